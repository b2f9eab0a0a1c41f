"""Runs ASGI applications on Hypercorn with uvloop.

When they stop, they first answer what they have accepted.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop

from backend.domain.errors import OperatorError
from backend.serving.connections import Connections
from backend.serving.descriptors import most_connections, raise_limit
from backend.serving.draining import LastAnswers, drain
from backend.serving.hypercorn_server import StartFailed, reason_of, serve_on
from backend.settings import Settings


class NotStarted(OperatorError):
    """A server did not start. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class ServedApp:
    """An ASGI application, and the socket from `bind` on which it is served."""

    app: Any
    socket: socket.socket


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run `main` on uvloop. If an application can't start, raises NotStarted with its message."""
    try:
        uvloop.run(main)
    except* StartFailed as group:
        raise NotStarted(reason_of(_first_leaf(group))) from None


def bind(host: str, port: int, variable: str) -> socket.socket:
    """A socket that is bound to the address. Raises NotStarted if the port is in use or not allowed.

    `variable` is the setting that the message names. The socket does not listen yet, so nobody connects
    before the application has started.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise NotStarted(_why_not_bound(error, host, port, variable)) from None
    return bound


def _why_not_bound(error: OSError, host: str, port: int, variable: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken: stop what listens there, or set {variable} to another."
    return f"Can't listen on {host} port {port} ({error.strerror}): set {variable} to another port."


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
