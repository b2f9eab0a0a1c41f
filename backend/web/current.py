"""Access to the current request, to what is known about it, and to the app's resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from quart import Quart

from backend.domain.accounts.api_keys import ApiKey
from backend.domain.accounts.sessions import Session
from backend.domain.accounts.users import User
from backend.domain.web.short_urls import ShortUrlForm
from backend.rate_limits.service_limits import ServiceLimits
from backend.settings import Settings
from backend.storage.accounts.key_cache import KeyCache
from backend.storage.analytics.client import Analytics
from backend.storage.clicks.signing import ClickSigning
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.storage.driver.pulse import Pulse
from backend.storage.links.destinations.block_list import BlockList
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.outbox.watch import FeedWatch
from backend.system.clock import Clock
from backend.web.proxies import TrustedProxies
from backend.web_client.page_reader import PageReader
from backend.web_client.receivers import Receivers

_KEY = "waylink"
# From the arrival of a request, for all that it waits for in MongoDB, its turn in a group included. Less than
# the SDK's own time limit, so that it gets an answer.
REQUEST_SECONDS = 5.0
_known: ContextVar[RequestFacts] = ContextVar("known")
ServiceT = TypeVar("ServiceT")


@dataclass(frozen=True, slots=True)
class Resources:
    """Objects that live as long as the app. `clock` returns the time in UTC; tests pass their own."""

    settings: Settings
    database: Database
    pulse: Pulse
    clock: Clock
    keys: KeyCache
    rate_limits: ServiceLimits
    proxies: TrustedProxies
    block_list: BlockList
    destinations: DestinationPolicies
    pages: PageReader
    click_signing: ClickSigning
    feed: FeedWatch
    analytics: Analytics
    receivers: Receivers

    @property
    def short_url_form(self) -> ShortUrlForm:
        """How this service writes short URLs."""
        return self.settings.short_url_form


@dataclass(slots=True)
class RequestFacts:
    """A request, and what is found out about it while it is handled. Each field names who sets it."""

    scope: Mapping[str, Any]  # app: the request as the ASGI server gives it
    services: Mapping[type, object]  # app: what was attached to it, by type
    began: float = 0.0  # operations/observation: when, by time.perf_counter
    api_key: ApiKey | None = None  # rest_api, app_api: whose key it came with
    limit_headers: dict[str, str] = field(default_factory=dict)  # rest_api: the headers of the key's limit
    user: User | None = None  # dashboard: who sent it, where somebody is signed in
    session: Session | None = None  # dashboard: by which session
    form: dict[str, str] | None = None  # dashboard: the fields of its form, once that was checked
    cookie_token: str = ""  # dashboard: the token of the browser's cookie
    is_cookie_new: bool = False  # dashboard: whether the answer has to set that cookie


def known() -> RequestFacts:
    """What is known about the current request."""
    return _known.get()


def attach(app: Quart, *services: object) -> None:
    """Give the app these services, which `of_app` finds by their type."""
    app.extensions.setdefault(_KEY, {}).update({type(each): each for each in services})


@contextmanager
def handling(app: Quart, scope: Mapping[str, Any]) -> Iterator[None]:
    """The block handles this ASGI request with what was attached to the app, whether by the app or by a route
    of our own beside it. Its deadline is fixed here."""
    facts = _known.set(RequestFacts(scope, app.extensions[_KEY]))
    try:
        with deadline(REQUEST_SECONDS):
            yield
    finally:
        _known.reset(facts)


def of_app(kind: type[ServiceT]) -> ServiceT:
    """The service of this type that was attached to the app that handles this request."""
    return cast(ServiceT, known().services[kind])


def given_to(app: Quart, kind: type[ServiceT]) -> ServiceT:
    """The service of this type that was attached to this app."""
    return cast(ServiceT, app.extensions[_KEY][kind])


def header(name: bytes) -> str | None:
    """The value of a header of the current request, whose name is in lower case; None if it has none.

    Where a header comes twice, the first one counts.
    """
    return next((value.decode("latin-1") for each, value in known().scope["headers"] if each == name), None)


def resources() -> Resources:
    """The resources of the app that handles this request."""
    return of_app(Resources)


def visitor_network() -> str:
    """The visitor's address as rate limits count it: of an IPv6 address, only the part of its network."""
    return resources().proxies.visitor_network(known().scope)


def visitor_address() -> str:
    """The IP address of the visitor, found behind trusted proxies; "" if unknown."""
    return resources().proxies.visitor_address(known().scope)
