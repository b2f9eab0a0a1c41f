"""A request for a short URL, read from its ASGI scope."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from backend.concurrency.bounded_cache import remember
from backend.domain.domains.settings import NO_SETTINGS, DomainSettings, LinkDomain
from backend.domain.web.accept_language import preferred_languages
from backend.domain.web.host_names import LONGEST_HOST, InvalidHostName, normalize_host
from backend.domain.web.short_urls import link_path
from backend.redirector.request.recognition import LONGEST_USER_AGENT
from backend.web.proxies import peer_of

Scope = MutableMapping[str, Any]
_NO_DOMAINS: Mapping[str, LinkDomain] = {}
_LONGEST_REFERRER = 2048  # bytes; its host comes first
_LONGEST_LANGUAGES = 512  # bytes of a header that is remembered
_DEVICE_COOKIE = re.compile(
    rb"(?:^|; ?)cl_device_id=[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?:$|;)"
)


_USUAL_REFERRER = re.compile(rb"https?://([A-Za-z0-9.-]+)(?:[/?#]|$)")
# X-FB-HTTP-Engine, which Facebook's app sends, comes with X-Purpose only.
_PURPOSES = frozenset({b"sec-purpose", b"purpose", b"x-purpose", b"x-moz"})
_AHEAD = re.compile(rb"prefetch|prerender|preview", re.IGNORECASE)


class InvalidHost(ValueError):
    """The request has no valid Host header, or more than one."""


class Visit:
    """The parts of a request that the redirector needs.

    `path` is None if no link can have the requested path. `rest` is what follows the path of the link that
    is found, as it was sent. `passed` is the part of the query that the link passes on to the web, None: all.
    """

    __slots__ = (
        "_domains",
        "headers",
        "host",
        "method",
        "passed",
        "path",
        "query",
        "raw_path",
        "rest",
        "scope",
    )

    def __init__(self, scope: Scope, domains: Mapping[str, LinkDomain] = _NO_DOMAINS) -> None:
        """`domains` are the link domains that are known. Raises InvalidHost."""
        self.scope = scope
        self._domains = domains
        self.method: str = scope["method"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.host = _host(scope["headers"], self.headers)
        self.raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        self.path = link_path(self.raw_path)
        self.query: str = scope["query_string"].decode("latin-1")
        self.rest = ""
        self.passed: str | None = None

    @property
    def web_query(self) -> str:
        """The part of the query that a web address gets."""
        return self.query if self.passed is None else self.passed

    def without_end(self, end: str) -> Visit:
        """The same request for the path without this end."""
        scope = {**self.scope, "raw_path": self.raw_path.removesuffix(end.encode("ascii"))}
        return Visit(scope, self._domains)

    @property
    def domain(self) -> LinkDomain | None:
        """The link domain that is asked; None if it is none, or not known."""
        return self._domains.get(self.host)

    @property
    def settings(self) -> DomainSettings:
        """What the domain's organization has set for it."""
        domain = self.domain
        return domain.settings if domain else NO_SETTINGS

    @property
    def peer(self) -> str:
        """The IP address of the connection's other end, the visitor or the nearest proxy; "" if unknown."""
        return peer_of(self.scope)

    @property
    def user_agent(self) -> bytes:
        """The User-Agent header, cut to its first bytes."""
        return self.headers.get(b"user-agent", b"")[:LONGEST_USER_AGENT]

    @property
    def requested_with(self) -> bytes:
        """What asks: the app around a web view of Android, or "XMLHttpRequest"; empty if unknown."""
        return self.headers.get(b"x-requested-with", b"")

    @property
    def cookies(self) -> Iterator[tuple[str, str]]:
        """The names and values of all cookies. HTTP/2 may send them in several headers."""
        for name, header in self.scope["headers"]:
            if name == b"cookie":
                for cookie in header.decode("latin-1").split(";"):
                    key, _, value = cookie.strip().partition("=")
                    yield key, value

    @property
    def is_prefetch(self) -> bool:
        """Whether the browser only loads ahead, for a click that may never come (decisions)."""
        headers = self.headers
        if _PURPOSES.isdisjoint(headers):
            return False
        return any(_AHEAD.search(headers.get(name, b"")) for name in _PURPOSES)

    @property
    def language(self) -> str | None:
        """The language that the visitor likes best, as a tag in lower case; None if unknown."""
        header = self.headers.get(b"accept-language")
        return _language(header) if header else None

    @property
    def has_device_id(self) -> bool:
        """Whether the browser sends the cookie of the SDK.

        It does where the SDK runs on a page of the same site as the link's domain.
        """
        cookies = self.headers.get(b"cookie")
        return cookies is not None and _DEVICE_COOKIE.search(cookies) is not None

    @property
    def referrer_host(self) -> str | None:
        """The host of the page that the visitor comes from; None if unknown."""
        referrer = self.headers.get(b"referer")
        return referrer_host(referrer[:_LONGEST_REFERRER]) if referrer else None


@remember(most_bytes=500_000, longest_key=_LONGEST_LANGUAGES)
def _language(accept_language: bytes) -> str | None:
    return next((tag for tag in preferred_languages(accept_language) if tag != "*"), None)


def _host(headers: Collection[tuple[bytes, bytes]], by_name: dict[bytes, bytes]) -> str:
    host = host_name(by_name.get(b"host", b""))
    if host is None:
        raise InvalidHost
    # Most requests have each header once, and none of them needs to be looked at.
    if len(headers) != len(by_name) and sum(name == b"host" for name, _ in headers) != 1:
        raise InvalidHost
    return host


@remember(most_bytes=1_000_000, longest_key=LONGEST_HOST)
def host_name(header: bytes) -> str | None:
    """The host in a Host header, in its normal form; None if it is not valid."""
    try:
        return normalize_host(header.decode("utf-8"))
    except (InvalidHostName, UnicodeDecodeError):
        return None


@remember(most_bytes=2_000_000, longest_key=_LONGEST_REFERRER)
def referrer_host(referrer: bytes) -> str | None:
    """The host in a Referer header; None if it has none."""
    if usual := _USUAL_REFERRER.match(referrer):  # hardly two addresses are alike, but many hosts are
        return host_name(usual[1])
    try:
        return normalize_host(urlsplit(referrer.decode("latin-1")).hostname or "")
    except ValueError:
        return None
