"""What a request handler works with: the settings, the database and the clock of the app that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from quart import Quart, current_app, request

from backend.domain.addresses import network_of
from backend.domain.short_urls import ShortUrlForm
from backend.proxies import TrustedProxies
from backend.rate_limits.service_limits import ServiceLimits
from backend.settings import Settings
from backend.storage.key_cache import KeyCache
from backend.storage.mongo import Database

_KEY = "waylink"
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Resources:
    """What lives as long as the app. `clock` gives the time in UTC; tests pass their own."""

    settings: Settings
    database: Database
    clock: Clock
    keys: KeyCache
    rate_limits: ServiceLimits
    proxies: TrustedProxies

    @property
    def short_url_form(self) -> ShortUrlForm:
        """How this service writes short URLs."""
        return ShortUrlForm(self.settings.port if self.settings.local_short_urls else None)


def attach(app: Quart, resources: Resources) -> None:
    """Give the app its resources."""
    app.extensions[_KEY] = resources


def resources() -> Resources:
    """The resources of the app that handles this request."""
    found: Resources = current_app.extensions[_KEY]
    return found


def visitor_network() -> str:
    """What limits count of that address: an IPv6 address by the network that one visitor has."""
    address = visitor_address()
    return network_of(address) or address


def visitor_address() -> str:
    """The address that this request comes from, as proxies of ours tell it; "" where unknown."""
    return resources().proxies.visitor_address(request.scope)
