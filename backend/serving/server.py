"""Runs ASGI applications on Hypercorn with uvloop.

When they stop, they first answer what they have accepted.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import socket
import struct
import sys
from array import array
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop

from backend.operations.health import IS_LAST, STOPPING
from backend.serving.connections import Connections
from backend.serving.hypercorn_server import StartFailed, reason_of, serve_on
from backend.serving.listener import NotStarted
from backend.settings import Settings

# Seconds from the last connection that is let in to the closing of the port: connections whose handshake is
# under way arrive, and are taken.
LAST_ARRIVALS = 0.25

_SO_ATTACH_FILTER = 26  # Linux; Python has no name for it
_SYN, _SYN_ACK = 0x02, 0x12
_FLAGS_OFFSET = 13  # in the TCP header
# Classic BPF: drop a segment that asks for a new connection, let everything else through.
_DROP_NEW_CONNECTIONS = (
    (0x30, 0, 0, _FLAGS_OFFSET),  # load the byte with the flags
    (0x54, 0, 0, _SYN_ACK),  # keep SYN and ACK
    (0x15, 0, 1, _SYN),  # SYN alone?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # let it through
)


class LastAnswers:
    """An ASGI application around another one. After it is told to stop, each answer closes its connection.

    A client that keeps connections open then opens a new one, instead of sending its next request on a
    connection that is about to close.

    The application finds `stopping` in its `state`, and IS_LAST in that of a request whose answer is the last
    of its connection.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self.stopping = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            scope["state"][STOPPING] = self.stopping
        if not self.stopping.is_set() or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        marked = {**scope, "state": {**scope.get("state", {}), IS_LAST: True}}
        await self._app(marked, receive, _closing(send) if scope["http_version"] < "2" else send)


def _closing(send: Any) -> Any:
    async def send_and_close(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
        await send(message)

    return send_and_close


async def drain(app: LastAnswers, listener: socket.socket, seconds: float) -> None:
    """Go on answering for this many seconds, closing each connection, then accept no new ones.

    Closes `listener`. The server can then close its own copy: no connection is left in the queue, where it
    would be reset.
    """
    app.stopping.set()
    await asyncio.sleep(seconds)
    _refuse_new_connections(listener)
    await asyncio.sleep(LAST_ARRIVALS)
    listener.close()


def _refuse_new_connections(listener: socket.socket) -> None:
    """On Linux, ignore new connection requests. The client will try again."""
    if sys.platform != "linux":
        return
    steps = array("B", b"".join(struct.pack("HBBI", *step) for step in _DROP_NEW_CONNECTIONS))
    program = struct.pack("HL", len(_DROP_NEW_CONNECTIONS), steps.buffer_info()[0])
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


# Files that are kept back: connections to MongoDB, click logs, metrics, and connections that the kernel hands
# over before they are counted.
_RESERVE = 400
_WITHOUT_LIMIT = 1_000_000  # where the system sets no limit


def raise_limit() -> int:
    """Raise this process's limit of open files as far as the system allows. Returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return _WITHOUT_LIMIT if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int) -> int:
    """How many client connections to allow, given the limit of open files."""
    return max(limit - _RESERVE, limit // 2)


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
