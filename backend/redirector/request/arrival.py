"""The visitor behind a request: the client, its address and country, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.web.client import Client
from backend.redirector.request.country import Lookup, country_code
from backend.redirector.request.recognition import recognize
from backend.redirector.request.visit import Visit
from backend.system.clock import Clock
from backend.web.proxies import TrustedProxies


@dataclass(slots=True)  # not frozen: one is made for each redirect, which would take twice as long
class Arrival:
    """A visitor who came at the time `at`. `address` is "" if unknown, and then `country` is None."""

    client: Client
    at: datetime
    address: str
    country: str | None


class Arrivals:
    """Finds out who visits, without waiting for anything."""

    def __init__(
        self, clock: Clock, proxies: TrustedProxies, country_header: str, country_of: Lookup
    ) -> None:
        """`country_header` is the header in which a trusted proxy names the country; "" if there is none."""
        self._clock = clock
        self._proxies = proxies
        self._country_header = country_header.lower().encode()
        self._country_of = country_of

    def of(self, visit: Visit) -> Arrival:
        """The visitor's client, time, address and country, as far as the request tells."""
        address = self._proxies.visitor_address(visit.scope)
        country = self._country(visit, address) if address else None
        return Arrival(recognize(visit.user_agent), self._clock(), address, country)

    def _country(self, visit: Visit, address: str) -> str | None:
        if self._country_header and self._proxies.trusts(visit.peer):
            header = visit.headers.get(self._country_header, b"")
            if code := country_code(header.decode("latin-1")):
                return code
        return self._country_of(address)
