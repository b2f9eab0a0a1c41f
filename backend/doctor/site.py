"""A link domain as a web site, to which the checks send requests."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass

import httpx

from backend.domain.web.short_urls import ShortUrlForm

SECONDS = 10.0
# The most that is read of an answer. Apple reads half as much.
MOST_BYTES = 256 * 1024
_CHUNK_BYTES = 16 * 1024
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Site:
    """A link domain. `address` is the start of its short URLs; requests are sent to `reached_at`."""

    domain: str
    address: str
    reached_at: str

    @property
    def is_local(self) -> bool:
        """Whether the domain is only for this machine (.localhost): browsers know it, DNS does not."""
        return self.address != self.reached_at

    async def get(self, client: httpx.AsyncClient, path: str, **headers: str) -> httpx.Response:
        """Request a path as a visitor of the domain would. Raises httpx.HTTPError.

        The answer may come from anyone, so at most MOST_BYTES of it are read and unpacked, within SECONDS.
        """
        host = self.address.partition("://")[2]
        sent_headers = {"Host": host, "Accept-Encoding": "identity", **headers}
        try:
            async with asyncio.timeout(SECONDS):
                async with client.stream("GET", f"{self.reached_at}/{path}", headers=sent_headers) as answer:
                    return await _start_of(answer)
        except TimeoutError:
            raise httpx.ReadTimeout(f"it took more than {SECONDS:.0f} seconds") from None


async def _start_of(answer: httpx.Response) -> httpx.Response:
    """The response with at most the first MOST_BYTES of its content, unpacked if it is compressed."""
    received = bytearray()
    async for piece in answer.aiter_raw(_CHUNK_BYTES):
        received += piece
        if len(received) >= MOST_BYTES:
            break
    content = bytes(received[:MOST_BYTES])
    if answer.headers.get("Content-Encoding", "").strip().lower() in {"gzip", "x-gzip", "deflate"}:
        content = _unpacked(content)
    kept = {name: text for name, text in answer.headers.items() if name not in _TRANSFER_HEADERS}
    return httpx.Response(answer.status_code, headers=kept, content=content, request=answer.request)


def _unpacked(content: bytes) -> bytes:
    try:
        return zlib.decompressobj(_GZIP_OR_ZLIB).decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise httpx.DecodingError(f"its content can't be unpacked: {error}") from None


def site_of(domain: str, localhost_port: int | None) -> Site:
    """The site of a domain. With a port, domains under .localhost are on this machine (see ShortUrlForm)."""
    address = ShortUrlForm(localhost_port).write(domain, "").removesuffix("/")
    is_local = address.startswith("http://")
    return Site(domain, address, f"http://127.0.0.1:{localhost_port}" if is_local else address)
