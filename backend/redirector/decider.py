"""What a visitor gets who follows a link: by its rules, its domain's apps, and what was added to its path."""

from __future__ import annotations

from typing import NamedTuple

from backend.domain.links.destinations import by_mail
from backend.domain.links.destinations.compiled_rules import CompiledRules, Target, share_of
from backend.domain.links.destinations.destination import Outcome, decide
from backend.domain.links.destinations.forwarding import Forwarding
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.rules.conditions import Circumstances
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.daily_keys import DailyKeys
from backend.redirector.request.visit import Visit
from backend.storage.clicks.address_keys import split_key
from backend.storage.driver.mongo import Database
from backend.web.current import Resources

STOPPED = frozenset({Outcome.NOT_FOUND, Outcome.HELD})
# Python 3.11 takes longer to look up a member of an enumeration than to compare it.
_NOT_FOUND, _HELD = Outcome.NOT_FOUND, Outcome.HELD


class Decision(NamedTuple):
    """The link as this visitor follows it, where its rules lead, if one fits, and what the visitor gets."""

    entry: CachedLink
    target: Target | None
    outcome: Outcome


class Decider:
    """Decides what each visitor gets."""

    def __init__(self, resources: Resources) -> None:
        """`split_keys` is to be started by whoever makes it."""
        self._block_list = resources.block_list
        self.split_keys = DailyKeys(resources.database, resources.clock, "splits", _split_key)

    def decide(
        self, visit: Visit, entry: CachedLink, arrival: Arrival, *, goes_on: bool = False
    ) -> Decision | None:
        """What the visitor gets. None if the link can't be filled in with what was added to the short URL.

        `goes_on`: out of a page that the visitor got of this link.
        """
        target = self._target(visit, entry, entry.rules, arrival) if entry.rules else None
        outcome = decide(entry.link, arrival.client, entry.apps, target)
        ios = entry.apps.ios
        if ios and ios.mail_page and not goes_on and _gets_mail_page(visit, entry, arrival, target, outcome):
            outcome = Outcome.APP_PAGE
        if outcome is not _NOT_FOUND and entry.is_blocked(self._block_list.current):
            outcome = _HELD
        if entry.forwarding is None or outcome in STOPPED:
            return Decision(entry, target, outcome)
        return self._fill_in(visit, entry, entry.forwarding, target, outcome)

    def _fill_in(
        self, visit: Visit, entry: CachedLink, forwarding: Forwarding, target: Target | None, outcome: Outcome
    ) -> Decision | None:
        """The decision with what the visitor added to the short URL."""
        visit.passed = forwarding.passed(visit.query)
        filled = entry.filled_in(visit.rest, visit.query)
        filled_target = target.filled_in(visit.rest, visit.query) if target else None
        if filled is None or (target and filled_target is None):
            return None
        blocked = self._block_list.current
        if leads_to(filled.link, blocked) or (filled_target and leads_to(filled_target.link, blocked)):
            outcome = _HELD
        return Decision(filled, filled_target, outcome)

    def _target(
        self, visit: Visit, entry: CachedLink, rules: CompiledRules, arrival: Arrival
    ) -> Target | None:
        """Where the link's rules lead this visit; None if none fits."""
        circumstances = Circumstances(
            arrival.client,
            arrival.at,
            arrival.country,
            visit.language,
            visit.query,
            visit.has_device_id,
            self._share(visit, entry, arrival) if rules.splits else 0.0,
        )
        return rules.target(circumstances)

    def _share(self, visit: Visit, entry: CachedLink, arrival: Arrival) -> float:
        # If MongoDB has not answered since the start, there is no key, and a visitor may see another variant.
        key = self.split_keys.of_day(arrival.at) or b""
        return share_of(key, entry.link.id, arrival.address, visit.user_agent)


def _gets_mail_page(
    visit: Visit, entry: CachedLink, arrival: Arrival, target: Target | None, outcome: Outcome
) -> bool:
    link = entry.link
    return by_mail.gets_page(link, arrival.client, entry.apps, target, outcome) and by_mail.comes_by_mail(
        visit.referrer_host, visit.query, link
    )


async def _split_key(database: Database, _: str) -> bytes:
    """The key of splits, which is the same on every day."""
    return await split_key(database)
