"""The visitor behind a request: the client, its address and country, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.web.client import Client
from backend.redirector.request.recognition import in_app, recognize
from backend.redirector.request.visit import Visit
from backend.system.clock import Clock
from backend.web.country import Countries
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

    def __init__(self, clock: Clock, proxies: TrustedProxies, countries: Countries) -> None:
        self._clock = clock
        self._proxies = proxies
        self._countries = countries

    def of(self, visit: Visit) -> Arrival:
        """The visitor's client, time, address and country, as far as the request tells."""
        address = self._proxies.visitor_address(visit.scope)
        countries = self._countries
        country = countries.country(visit.peer, address, visit.headers.get(countries.header, b""))
        client = recognize(visit.user_agent)
        if requested_with := visit.requested_with:
            client = in_app(client, requested_with)
        return Arrival(client, self._clock(), address, country)
