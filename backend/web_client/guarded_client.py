"""Sends requests to servers that organizations name, within bounds of time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import httpcore

from backend.domain.links.destinations.web_address import encoded_address
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.page_reader import headers_by_name, read_beginning, request_errors

# Connections of a process that stay open for the next request.
_MOST_IDLE_CONNECTIONS = 100
_IDLE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """What a server answered: status, headers by their names in lower case, the beginning of the body."""

    status: int
    headers: Mapping[str, str]
    text: str


class GuardedClient:
    """Connections over a network. A request takes at most `seconds`. `most_bytes` of an answer are read."""

    def __init__(self, network: GuardedNetwork, *, seconds: float, most_bytes: int) -> None:
        self._network = network
        self.seconds = seconds
        self._most_bytes = most_bytes

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

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> GuardedAnswer:
        """Send this request. A redirect is an answer as any other, and not followed.

        Raises Unreadable if no answer came in time, or the address is not one that the network allows.
        """
        sent_headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        with request_errors():
            async with (
                asyncio.timeout(self.seconds),
                self._pool.stream(method, encoded_address(url), headers=sent_headers, content=body) as answer,
            ):
                content = await read_beginning(answer, self._most_bytes)
                return GuardedAnswer(
                    answer.status, headers_by_name(answer), content.decode("utf-8", "replace")
                )

    async def close(self) -> None:
        """End all connections."""
        if "_pool" in self.__dict__:
            await self._pool.aclose()
