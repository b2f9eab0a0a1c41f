"""Reads pages at any address, with bounds for time, size and redirects."""

from __future__ import annotations

import asyncio
import re
import ssl
import zlib
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

import httpcore

from backend.concurrency.fair_semaphore import FairSemaphore
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import WebAddress
from backend.domain.links.destinations.web_address import encoded_address
from backend.version import VERSION
from backend.web_client.guarded_network import GuardedNetwork, NotPublic, Resolve, asking_for, resolve

MOST_BYTES = 256 * 1024
MOST_REDIRECTS = 5
SECONDS = 10.0
# How many pages a process reads at the same time.
_MOST_CONCURRENT_READS = 8
# Characters that people have to write percent-encoded, and browsers take from a server: braces, blanks other
# than a space, and characters of no width.
_UNWRITTEN = re.compile(r"[{}\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]|[^\S\x00-\x20]")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_AGENT = f"Waylink/{VERSION} (bot; link preview and check)"
_HEADERS: Mapping[bytes | str, bytes | str] = {
    "User-Agent": _AGENT,
    "Accept": "text/html, */*;q=0.5",
    "Accept-Encoding": "gzip",
}


class Unreadable(Exception):
    """An address can't be read. The message completes "it ..."."""


@dataclass(frozen=True, slots=True)
class Page:
    """The answer after all redirects: its address, status and type, and the beginning of its content."""

    url: str
    status: int
    media_type: str
    charset: str | None
    content: bytes


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """An answer: its status, its headers by their names in lower case, the beginning of its content."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def location(self) -> str:
        """Where a redirect leads; "" for any other answer."""
        return self.headers.get("location", "") if self.status in _REDIRECTS else ""

    @property
    def media_type(self) -> str:
        """The type of the content without its parameters, in lower case; "" if it is not told."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@contextmanager
def request_errors() -> Iterator[None]:
    """Raise Unreadable instead of the network's errors in the block."""
    try:
        yield
    except (TimeoutError, httpcore.TimeoutException):
        raise Unreadable("did not answer in time") from None
    except NotPublic:
        raise Unreadable("is not in the public internet") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise Unreadable(_reason(error)) from None


def headers_by_name(response: httpcore.Response) -> dict[str, str]:
    """The headers of a response, by their names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}


async def read_beginning(response: httpcore.Response, most_bytes: int) -> bytes:
    """At most the first `most_bytes` of a response's content."""
    received = bytearray()
    async for piece in response.aiter_stream():
        received += piece
        if len(received) >= most_bytes:
            break
    return bytes(received[:most_bytes])


class PageReader:
    """Reads pages. With `allows_private`, also those inside the operator's own network."""

    def __init__(self, *, allows_private: bool, resolve: Resolve = resolve) -> None:
        self._turns = FairSemaphore(_MOST_CONCURRENT_READS)
        self._network = GuardedNetwork(allows_private=allows_private, resolve=resolve)

    async def read(self, url: str, owner: Hashable, *, method: str = "GET", seconds: float = SECONDS) -> Page:
        """The page at a web address, behind at most MOST_REDIRECTS redirects, once it is the turn of the
        owner, such as an organization. Raises Unreadable."""
        async with self._turns.place(owner):
            with request_errors(), asking_for(owner):
                async with asyncio.timeout(seconds), _pool(self._network) as pool:
                    return await self._follow(pool, method, encoded_address(url))

    async def _follow(self, pool: httpcore.AsyncConnectionPool, method: str, url: str) -> Page:
        for _ in range(MOST_REDIRECTS + 1):
            answer = await _answer(pool, method, url, _HEADERS)
            if not answer.location:
                return _page(answer)
            url = _next_address(url, answer.location)
        raise Unreadable(f"redirects more than {MOST_REDIRECTS} times")


async def read_answer(
    network: GuardedNetwork, url: str, headers: Mapping[str, str], tls: ssl.SSLContext
) -> WebAnswer:
    """What is answered at a web address. A redirect is an answer as any other. Raises Unreadable."""
    sent_headers = {"User-Agent": _AGENT, "Accept-Encoding": "identity", **headers}
    with request_errors():
        async with asyncio.timeout(SECONDS), _pool(network, tls) as pool:
            return await _answer(pool, "GET", url, sent_headers)


def _pool(network: GuardedNetwork, tls: ssl.SSLContext | None = None) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(tls, network_backend=network, max_keepalive_connections=0, retries=0)


async def _answer(
    pool: httpcore.AsyncConnectionPool, method: str, url: str, headers: Mapping[Any, Any]
) -> WebAnswer:
    """The answer with at most the first MOST_BYTES of its content, unpacked if it is compressed; with none of
    a redirect's."""
    async with pool.stream(method, url, headers=headers) as response:
        response_headers = headers_by_name(response)
        if response.status in _REDIRECTS and response_headers.get("location"):
            return WebAnswer(url, response.status, response_headers, b"")
        content = await read_beginning(response, MOST_BYTES)
    if response_headers.get("content-encoding", "").strip().lower() in {"gzip", "x-gzip", "deflate"}:
        content = _unpacked(content)
    return WebAnswer(url, response.status, response_headers, content)


def _page(answer: WebAnswer) -> Page:
    _, _, rest = answer.headers.get("content-type", "").partition("charset=")
    return Page(answer.url, answer.status, answer.media_type, rest.strip(" \"'")[:40] or None, answer.content)


def _unpacked(content: bytes) -> bytes:
    try:
        return zlib.decompressobj(_GZIP_OR_ZLIB).decompress(content, MOST_BYTES)
    except zlib.error:
        raise Unreadable("answers what can't be unpacked") from None


def _next_address(url: str, location: str) -> str:
    try:
        # Header values are bytes; those that are no ASCII are mostly UTF-8.
        text = location.encode("latin-1").decode("utf-8", "replace")
        text = _UNWRITTEN.sub(lambda match: quote(match[0]), text)
        return encoded_address(WebAddress().parse("location", urljoin(url, text)))
    except (InvalidField, ValueError):
        raise Unreadable("redirects to what is no web address") from None


def _reason(error: Exception) -> str:
    if isinstance(error.__cause__, ssl.SSLError) or isinstance(error, ssl.SSLError):
        return "has a certificate that browsers refuse"
    if isinstance(error, httpcore.ProtocolError):
        return "answers no HTTP"
    return "does not answer"
