"""What visitors of a link get while its limits don't let them through."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.clicks import NotCounted
from backend.domain.destination import Outcome
from backend.domain.link_limits import LinkLimits
from backend.domain.web_address import encoded_address
from backend.redirector import pages
from backend.redirector.answer import Answer, redirect
from backend.redirector.visit import Visit


@dataclass(frozen=True, slots=True)
class Withheld:
    """The answer instead of the redirect, and what is recorded of the visit, which does not count."""

    answer: Answer
    outcome: Outcome
    reason: NotCounted


def withhold(visit: Visit, limits: LinkLimits, now: datetime) -> Withheld | None:
    """What the visitor gets of a link that has not started or has expired; None if it is open."""
    if limits.is_expired(now):
        return expired(visit, limits)
    if limits.is_before_start(now):
        return Withheld(pages.not_found(visit), Outcome.NOT_FOUND, NotCounted.NOT_STARTED)
    return None


def expired(visit: Visit, limits: LinkLimits) -> Withheld:
    """To the link's address for visitors who come too late; without one, the error page."""
    if limits.expired_url is None:
        return Withheld(pages.not_found(visit), Outcome.NOT_FOUND, NotCounted.EXPIRED)
    address = redirect(encoded_address(limits.expired_url).encode("ascii"))
    return Withheld(address, Outcome.WEB, NotCounted.EXPIRED)
