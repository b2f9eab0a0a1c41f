"""Connections that lead to public addresses only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import httpcore

from backend.concurrency.fair_semaphore import FairSemaphore
from backend.domain.web.public_addresses import is_loopback, is_public

# The addresses of a host, as the system knows them.
Resolve = Callable[[str, int], Awaitable[list[str]]]
_MOST_ADDRESSES = 3
# Nothing else uses these threads: a name server may take minutes to fail, and a look-up can't be cancelled.
_MOST_LOOKUPS = 16
_lookup_threads = ThreadPoolExecutor(_MOST_LOOKUPS, thread_name_prefix="look-up")
_lookups = FairSemaphore(_MOST_LOOKUPS)
_asking: ContextVar[Hashable] = ContextVar("asking")


@contextmanager
def asking_for(owner: Hashable) -> Iterator[None]:
    """The block asks for hosts that this owner names: hosts whose name servers don't answer keep nobody else
    waiting."""
    former = _asking.set(owner)
    try:
        yield
    finally:
        _asking.reset(former)


class NotPublic(httpcore.ConnectError):
    """A host has an address that is not public."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, best first. Raises OSError."""
    begun = asyncio.Event()
    looking_up = asyncio.ensure_future(_look_up(host, port, begun))
    looking_up.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        found = await asyncio.shield(looking_up)
    except asyncio.CancelledError:
        # Who gives up leaves a thread that is still busy, so a look-up that has begun goes on, and keeps its
        # place. One that waits would only keep the owner's next ones waiting.
        if not begun.is_set():
            looking_up.cancel()
        raise
    return list(dict.fromkeys(str(info[4][0]) for info in found))


async def _look_up(host: str, port: int, begun: asyncio.Event) -> list[Any]:
    lookup = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    async with _lookups.place(_asking.get(host)):
        begun.set()
        return await asyncio.get_running_loop().run_in_executor(_lookup_threads, lookup)


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """Resolves a host once, checks all its addresses, and connects to one of the checked addresses.

    So a name can't get another address between check and connection (DNS rebinding). With `allows_private`,
    nothing is checked. With `allows_loopback`, addresses of this machine are allowed too, and so are those of
    `own_addresses`.
    """

    def __init__(
        self,
        *,
        allows_private: bool = False,
        allows_loopback: bool = False,
        own_addresses: Collection[str] = (),
        resolve: Resolve = resolve,
    ) -> None:
        self._network = httpcore.AnyIOBackend()
        self._allows_private = allows_private
        self._allows_loopback = allows_loopback
        self._own_addresses = own_addresses
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the driver's own name
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the host. Raises NotPublic and httpcore's errors."""
        addresses = await self._addresses(host, port)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await self._network.sleep(seconds)

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} has no address") from error
        if not addresses:
            raise httpcore.ConnectError(f"{host} has no address")
        if not all(map(self._is_allowed, addresses)):
            raise NotPublic(f"{host} is not in the public internet")
        return addresses[:_MOST_ADDRESSES]

    def _is_allowed(self, address: str) -> bool:
        return (
            self._allows_private
            or address in self._own_addresses
            or is_public(address)
            or (self._allows_loopback and is_loopback(address))
        )
