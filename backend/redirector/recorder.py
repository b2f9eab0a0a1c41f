"""Records visits in the click log, before they are answered."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from urllib.parse import parse_qsl

from backend.domain.clicks.clicks import NotCounted, client_fragment, record_line
from backend.domain.clicks.ids import click_id, read_click_id
from backend.domain.clicks.visitor_hashes import visitor_hash
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.destinations.web_address import CLICK_ID_PARAMETER
from backend.redirector.click_log.shipper import Shipper
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.links.handoffs import Handoffs
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.daily_keys import DailyKeys
from backend.redirector.request.visit import Visit
from backend.storage.clicks.address_keys import visitor_key
from backend.web.current import Resources

_ONE_CLICK = timedelta(hours=1)  # in which a tap on a page's button belongs to the visit of the page
# Where an id names the click: to the site that a visitor is led to, and to the app, so that its open is not
# counted again.
_NAMES_CLICK = frozenset({Outcome.WEB, Outcome.INTENT, Outcome.APP_PAGE})
_WEB = Outcome.WEB  # Python 3.11 takes longer to look up a member of an enumeration than to compare it
# A client contains only parts of a User-Agent, whose length is limited.
_fragment = lru_cache(maxsize=1024)(client_fragment)


class ClickRecorder:
    """Records visits, and names clicks."""

    def __init__(self, resources: Resources, shipper: Shipper, handoffs: Handoffs) -> None:
        """`visitor_keys` is to be started by whoever makes it."""
        self._rate_limits = resources.rate_limits
        self._click_signing = resources.click_signing
        self._shipper = shipper
        self._handoffs = handoffs
        self.visitor_keys = DailyKeys(resources.database, resources.clock, "visitors", visitor_key)

    async def record(
        self,
        outcome: Outcome,
        reason: NotCounted | None,
        visit: Visit,
        entry: CachedLink,
        arrival: Arrival,
        *,
        variant: str | None = None,
    ) -> bytes | None:
        """Record the visit. Returns the id of the click if it counts and is to be named.

        A visit that does not count is not recorded if its address has sent too many such.
        """
        if reason and not self._rate_limits.keeps_uncounted_visit(arrival.address):
            return None
        line = self._line(outcome, reason, visit, entry, arrival, variant=variant)
        await self._shipper.record(line)
        link = entry.link
        signing = self._click_signing
        if reason or outcome not in _NAMES_CLICK:
            return None
        key = signing.key_for(link.org_id) if outcome is _WEB else signing.key
        return click_id(key, link.org_id, link.id, line, variant=variant) if key else None

    def _line(
        self,
        outcome: Outcome,
        reason: NotCounted | None,
        visit: Visit,
        entry: CachedLink,
        arrival: Arrival,
        *,
        variant: str | None,
    ) -> bytes:
        """The line for the click log."""
        link, at = entry.link, arrival.at
        key = None if reason else self.visitor_keys.of_day(at)
        return record_line(
            link.org_id,
            link.id,
            _fragment(arrival.client),
            at=at,
            outcome=outcome,
            reason=reason,
            country=arrival.country,
            referrer_host=visit.referrer_host,
            visitor=visitor_hash(key, link.org_id, arrival.address, visit.user_agent) if key else None,
            variant=variant,
            handoff=self._handoffs.handoff(outcome, reason, entry, arrival),
        )

    def earlier_click(self, visit: Visit, entry: CachedLink, arrival: Arrival) -> bytes | None:
        """The id of the click that this visit goes on with, out of a page of the link; None if it is its own.

        That click is recorded already, and is one however many browsers it takes.
        """
        link, key = entry.link, self._click_signing.key
        if CLICK_ID_PARAMETER not in visit.query or key is None:
            return None
        text = dict(parse_qsl(visit.query)).get(CLICK_ID_PARAMETER, "")
        place = read_click_id(key, link.org_id, link.id, text)
        is_recent = place and timedelta() <= arrival.at - place.at < _ONE_CLICK
        return text.encode("ascii") if is_recent else None
