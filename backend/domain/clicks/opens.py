"""Opens of apps by links: clicks that no browser asked for (docs/decisions/opens.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from backend.domain.apps.installs import AppPlatform
from backend.domain.clicks.clicks import Click, NotCounted
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import LinkState
from backend.domain.web.client import ClientKind

_SYSTEMS = {AppPlatform.IOS: "iOS", AppPlatform.ANDROID: "Android"}
_REASONS = {
    LinkState.NOT_STARTED: NotCounted.NOT_STARTED,
    LinkState.EXPIRED: NotCounted.EXPIRED,
    LinkState.HELD: NotCounted.HELD,
}


@dataclass(frozen=True, slots=True)
class LinkOpen:
    """An open by a link, while the time at which it counts is not known.

    `reason` says why it does not count. `visitor` is the day in UTC on which the open arrived with the hash
    that tells the visitors of that day apart; None where that is not known. `key` is the one of click ids,
    with which the visit that followed names this click; None where the organization wants no click ids.
    """

    org_id: OrgId
    link_id: LinkId
    platform: AppPlatform
    country: str | None
    reason: NotCounted | None = None
    visitor: tuple[date, int] | None = None
    key: bytes | None = None

    def click(self, at: datetime) -> Click:
        """The click that the open is, at this time in UTC.

        Its visitor is known if the open arrived on the day on which it happened.
        """
        day, visitor = self.visitor or (None, None)
        return Click(
            org_id=self.org_id,
            link_id=self.link_id,
            at=at,
            counted=self.reason is None,
            reason=self.reason.value if self.reason else None,
            outcome=Outcome.APP,
            platform=self.platform.value,
            system=_SYSTEMS[self.platform],
            browser=None,
            client_kind=ClientKind.APP.value,
            country=self.country,
            referrer_host=None,
            visitor=visitor if day == at.date() and self.reason is None else None,
        )


def why_open_does_not_count(state: LinkState) -> NotCounted | None:
    """Why an open by a link in this state is no click; None if it is one."""
    return None if state is LinkState.ENABLED else _REASONS.get(state, NotCounted.DISABLED)
