"""The current request, with what each room finds out about it, and the resources of the app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from quart import Quart

from backend.concurrency.startable import running
from backend.domain.web.short_urls import ShortUrlForm
from backend.rate_limits.service_limits import ServiceLimits
from backend.settings import Settings
from backend.storage.accounts.key_cache import KeyCache
from backend.storage.analytics.client import Analytics
from backend.storage.audit.acting import NOBODY, acting_as
from backend.storage.clicks.signing import ClickSigning
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.driver.pulse import Pulse
from backend.storage.links.destinations.block_list import BlockList
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.outbox.watch import FeedWatch
from backend.system.clock import Clock
from backend.web.country import Countries
from backend.web.proxies import TrustedProxies, peer_of
from backend.web_client.name_servers import NameServers
from backend.web_client.page_reader import PageReader
from backend.web_client.receivers import Receivers

_KEY = "waylink"
# From the arrival of a request, for all that it waits for in MongoDB, its turn in a group included. Less than
# the SDK's own time limit, so that it gets an answer.
REQUEST_SECONDS = 5.0
_current: ContextVar[CurrentRequest] = ContextVar("current")
ServiceT = TypeVar("ServiceT")
FactsT = TypeVar("FactsT")


class Resources:
    """What lives as long as the app, made from its settings and its database.

    `clock` returns the time in UTC; tests pass their own.
    """

    def __init__(self, settings: Settings, database: Database, pulse: Pulse, clock: Clock) -> None:
        self.settings = settings
        self.database = database
        self.pulse = pulse
        self.clock = clock
        self.keys = KeyCache(database, clock)
        self.rate_limits = ServiceLimits(database, settings, clock)
        self.proxies = TrustedProxies(settings.trusted_proxies)
        self.countries = Countries(self.proxies, settings.country_header, settings.mmdb)
        self.block_list = BlockList(settings.block_list)
        self.in_app_browsers = settings.known_in_app_browsers
        self.destinations = DestinationPolicies(database, lambda: self.block_list.current)
        self.names = NameServers(settings.dns_servers)
        self.pages = PageReader(allows_private=settings.private_destinations)
        # Of its own: who waits for a preview does not wait behind checks.
        self.checked_pages = PageReader(allows_private=settings.private_destinations)
        self.click_signing = ClickSigning(database)
        self.feed = FeedWatch(database)
        self.analytics = Analytics(database, settings)
        self.receivers = Receivers(allows_loopback=settings.allows_loopback_receivers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The block may use all of them. Raises OSError if the block list can't be read."""
        async with AsyncExitStack() as closing, running(self.block_list, self.click_signing, self.feed):
            closing.push_async_callback(self.rate_limits.stop)
            closing.push_async_callback(self.receivers.close)
            closing.push_async_callback(self.analytics.close)
            yield

    @property
    def short_url_form(self) -> ShortUrlForm:
        """How this service writes short URLs."""
        return self.settings.short_url_form


@dataclass(slots=True)
class CurrentRequest:
    """A request while it is handled.

    `scope` is the request as the ASGI server gives it, `services` what was attached to the app, by type.
    `facts` is what each room found out about the request, by the type of its own object.
    """

    scope: Mapping[str, Any]
    services: Mapping[type, object]
    facts: dict[type, Any] = field(default_factory=dict)


def of_request(kind: type[FactsT]) -> FactsT:
    """The object of this type that belongs to the current request.

    A room keeps in it what it finds out about the request. The object is made, without arguments, when it is
    first asked for.
    """
    facts: dict[type, FactsT] = _current.get().facts
    if kind not in facts:
        facts[kind] = kind()
    return facts[kind]


@contextmanager
def reading_from(database: Database) -> Iterator[None]:
    """The block has this database for the one of `resources()`."""
    current = _current.get()
    instead = copy(resources())
    instead.database = database
    former = _current.set(replace(current, services={**current.services, Resources: instead}))
    try:
        yield
    finally:
        _current.reset(former)


def attach(app: Quart, *services: object) -> None:
    """Give the app these services, which `of_app` finds by their type."""
    app.extensions.setdefault(_KEY, {}).update({type(service): service for service in services})


@contextmanager
def handling(app: Quart, scope: Mapping[str, Any]) -> Iterator[None]:
    """The block handles this ASGI request with what was attached to the app, whether by the app or by a route
    of our own beside it. Its deadline is fixed here."""
    former = _current.set(CurrentRequest(scope, app.extensions[_KEY]))
    try:
        with deadline(REQUEST_SECONDS), acting_as(NOBODY):
            yield
    finally:
        _current.reset(former)


def of_app(kind: type[ServiceT]) -> ServiceT:
    """The service of this type that was attached to the app that handles this request."""
    return cast(ServiceT, _current.get().services[kind])


def given_to(app: Quart, kind: type[ServiceT]) -> ServiceT:
    """The service of this type that was attached to this app."""
    return cast(ServiceT, app.extensions[_KEY][kind])


def header(name: bytes) -> str | None:
    """The value of a header of the current request, whose name is in lower case; None if it has none.

    Where a header comes twice, the first one counts.
    """
    headers = _current.get().scope["headers"]
    return next((value.decode("latin-1") for sent_name, value in headers if sent_name == name), None)


def resources() -> Resources:
    """The resources of the app that handles this request."""
    return of_app(Resources)


def visitor_network() -> str:
    """The visitor's address as rate limits count it: of an IPv6 address, only the part of its network."""
    return resources().proxies.visitor_network(_current.get().scope)


def visitor_address() -> str:
    """The IP address of the visitor, found behind trusted proxies; "" if unknown."""
    return resources().proxies.visitor_address(_current.get().scope)


def peer() -> str:
    """The IP address of the connection's other end, the visitor or the nearest proxy; "" if unknown."""
    return peer_of(_current.get().scope)


def visitor_country() -> str | None:
    """The ISO 3166 code of the visitor's country; None if unknown."""
    countries = resources().countries
    named = header(countries.header) or ""
    return countries.country(peer(), visitor_address(), named.encode("latin-1"))
