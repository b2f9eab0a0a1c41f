"""Runs ASGI applications on Hypercorn with uvloop.

When they stop, they first answer what they have accepted.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop

from backend.serving.connections import Connections
from backend.serving.descriptors import most_connections, raise_limit
from backend.serving.draining import LastAnswers, drain
from backend.serving.hypercorn_server import StartFailed, reason_of, serve_on
from backend.serving.listener import NotStarted
from backend.settings import Settings


@dataclass(frozen=True, slots=True)
class ServedApp:
    """An ASGI application, and the socket from `bind` on which it is served."""

    app: Any
    socket: socket.socket


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run `main` on uvloop. If an application can't start, raises NotStarted with its message."""
    failed: BaseExceptionGroup[StartFailed] | None = None
    try:
        uvloop.run(main)
    except* StartFailed as group:
        failed = group
    # Not raised above: Python before 3.11.4 puts what is raised there into a group.
    if failed:
        raise NotStarted(reason_of(_first_leaf(failed)))


async def serve_sites(
    sites: Sequence[ServedApp],
    settings: Settings,
    on_ready: Callable[[], None],
    stop: asyncio.Event | None = None,
) -> None:
    """Serve these sites until SIGINT or SIGTERM, until `stop` is set, or until one of them fails.

    Accepted requests are still answered: for `drain_seconds` all that come, then those in progress for at
    most `graceful_seconds`.
    """
    connections = Connections(min(settings.connections, most_connections(raise_limit())))
    addresses = [site.socket.getsockname()[:2] for site in sites]
    stop = _stop_at_signals(stop or asyncio.Event())
    async with asyncio.TaskGroup() as tasks:
        for site in sites:
            tasks.create_task(_serve_one(site, settings, connections, stop))
        await asyncio.gather(*(_answers(address, stop) for address in addresses))
        if not stop.is_set():
            on_ready()


async def _serve_one(
    site: ServedApp, settings: Settings, connections: Connections, stop: asyncio.Event
) -> None:
    app = LastAnswers(site.app)

    async def stopped() -> None:
        await stop.wait()
        await drain(app, site.socket, settings.drain_seconds)

    try:
        await serve_on(app, site.socket, settings, connections, stopped)
    finally:
        stop.set()


async def _answers(address: tuple[str, int], stop: asyncio.Event) -> None:
    """Return once the address accepts connections, or `stop` is set."""
    while not stop.is_set():
        try:
            _, writer = await asyncio.open_connection(*address)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


def _first_leaf(group: BaseExceptionGroup[StartFailed]) -> StartFailed:
    first = group.exceptions[0]
    return _first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _stop_at_signals(stop: asyncio.Event) -> asyncio.Event:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
