"""Answers visitors whom the limits of a link turn away: its times, its password, its number of clicks."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.clicks.clicks import NotCounted
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.destinations.web_address import encoded_address
from backend.domain.links.limits import LinkLimits, Obstacle
from backend.domain.links.links import Link
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer, plain, redirect
from backend.redirector.answers.passwords import LinkPasswords
from backend.redirector.links.click_takes import ClickTakes
from backend.redirector.request.visit import Visit
from backend.storage.driver.lanes import Lane
from backend.storage.driver.mongo import StorageError
from backend.web.current import Resources


@dataclass(frozen=True, slots=True)
class Withheld:
    """The answer to a visitor who is turned away, and how the visit is recorded. It is no click that counts.

    Without a reason, the visit is not recorded.
    """

    answer: Answer
    reason: NotCounted | None
    outcome: Outcome = Outcome.NOT_FOUND


class LimitedLinks:
    """Decides whether a link with limits lets a visitor through. Visitors wait in `lane` for the database."""

    def __init__(self, resources: Resources, lane: Lane) -> None:
        self._clock = resources.clock
        self._lane = lane
        self._takes = ClickTakes(resources.database, resources.clock)
        self.passwords = LinkPasswords(resources)

    async def withhold(
        self, visit: Visit, link: Link, outcome: Outcome, reason: NotCounted | None, *, sent_form: bool
    ) -> Withheld | None:
        """The answer to a visitor whom the link's limits turn away; None if they let the visitor through.

        `reason` says why the visit does not count as a click. Only a visit that counts takes one of the
        clicks that the link has left. `sent_form`: the visitor just sent the form that the link shows, with
        the right password if it asks for one. A form that takes no click, such as a crawler's, gets the page
        again. Link previews need none to tell what they are of.
        """
        limits = link.limits
        has_password = sent_form or (
            limits.password_hash is not None and self.passwords.has_pass(visit, link)
        )
        obstacle = limits.obstacle(
            self._clock(),
            has_password=has_password,
            has_continued=(sent_form and reason is None) or outcome is Outcome.PREVIEW,
        )
        if obstacle:
            return _turned_away(visit, limits, obstacle, reason)
        if limits.max_clicks is None:
            return None
        if reason is NotCounted.PREFETCH:
            return Withheld(plain(503, "This link is not loaded ahead.\n"), reason)
        return await self._take(visit, link) if reason is None else None

    async def _take(self, visit: Visit, link: Link) -> Withheld | None:
        try:
            with self._lane.used(link.org_id):
                is_taken = await self._takes.take(link)
        except StorageError:
            return Withheld(pages.unavailable(visit), None)
        return None if is_taken else _expired(visit, link.limits)


def _turned_away(visit: Visit, limits: LinkLimits, obstacle: Obstacle, reason: NotCounted | None) -> Withheld:
    match obstacle:
        case Obstacle.EXPIRED:
            return _expired(visit, limits)
        case Obstacle.NOT_STARTED:
            return Withheld(pages.not_found(visit), NotCounted.NOT_STARTED)
        case Obstacle.PASSWORD:
            return Withheld(pages.password(visit), NotCounted.PASSWORD)
        case Obstacle.CONTINUE:
            return Withheld(pages.to_continue(visit), reason or NotCounted.NOT_CONTINUED)


def _expired(visit: Visit, limits: LinkLimits) -> Withheld:
    """A redirect to the link's address for late visitors; the error page if it has none."""
    if limits.expired_url is None:
        return Withheld(pages.not_found(visit), NotCounted.EXPIRED)
    address = encoded_address(limits.expired_url).encode("ascii")
    return Withheld(redirect(address), NotCounted.EXPIRED, Outcome.WEB)
