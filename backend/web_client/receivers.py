"""Sends requests to receivers that organizations name, at public addresses and within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import httpcore

from backend.domain.links.destinations.web_address import encoded_address
from backend.version import VERSION
from backend.web_client.guarded_network import GuardedNetwork, Resolve, resolve
from backend.web_client.page_reader import request_errors

SECONDS = 15.0
MOST_BYTES = 16 * 1024
# Connections of a process that stay open for the next request.
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 30.0
_AGENT = f"Waylink/{VERSION} (webhooks)"


@dataclass(frozen=True, slots=True)
class ReceiverAnswer:
    """What a receiver answered: status, headers by their names in lower case, the beginning of the body."""

    status: int
    headers: Mapping[str, str]
    text: str


class Receivers:
    """Connections to receivers. With `allows_loopback`, also to those on this machine."""

    def __init__(self, *, allows_loopback: bool, resolve: Resolve = resolve) -> None:
        self.allows_loopback = allows_loopback
        self._network = GuardedNetwork(allows_loopback=allows_loopback, resolve=resolve)

    @cached_property
    def _pool(self) -> httpcore.AsyncConnectionPool:
        return httpcore.AsyncConnectionPool(
            # Once for all connections: it reads the certificates of all authorities, which takes a while.
            ssl_context=httpcore.default_ssl_context(),
            network_backend=self._network,
            max_connections=None,  # whoever sends has as many requests under way as it means to
            max_keepalive_connections=_MOST_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            retries=0,
        )

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> ReceiverAnswer:
        """Send this JSON. A redirect is an answer as any other, and not followed.

        Raises Unreadable if no answer came in SECONDS, or the address is not public.
        """
        sent_headers = [(name.encode(), value.encode()) for name, value in {**_HEADERS, **headers}.items()]
        with request_errors():
            async with (
                asyncio.timeout(SECONDS),
                self._pool.stream("POST", encoded_address(url), headers=sent_headers, content=body) as answer,
            ):
                return await _read(answer)

    async def close(self) -> None:
        """End all connections."""
        if "_pool" in self.__dict__:
            await self._pool.aclose()


_HEADERS: dict[str, str] = {"User-Agent": _AGENT, "Content-Type": "application/json"}


async def _read(answer: httpcore.Response) -> ReceiverAnswer:
    received = bytearray()
    async for piece in answer.aiter_stream():
        received += piece
        if len(received) >= MOST_BYTES:
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
    return ReceiverAnswer(answer.status, headers, bytes(received[:MOST_BYTES]).decode("utf-8", "replace"))
