"""All code that depends on Hypercorn's internals. pyproject.toml limits its versions for that reason."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

import h11
import hypercorn.asyncio.run
import hypercorn.protocol
from hypercorn.asyncio import serve
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from hypercorn.events import Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.utils import LifespanFailureError

from backend.serving.connections import Connections
from backend.serving.request_framing import StrictConnection
from backend.settings import Settings

_TURNED_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)
# What `serve_on` raises, maybe in a group, where the application did not start.
StartFailed = LifespanFailureError


async def serve_on(
    app: Any,
    listener: socket.socket,
    settings: Settings,
    connections: Connections,
    stopped: Callable[[], Awaitable[None]],
) -> None:
    """Serve an ASGI application on a bound socket until `stopped` returns. The caller closes the socket.

    `connections` counts the connections of the whole process. After `stopped`, requests in progress get at
    most `graceful_seconds`. Raises StartFailed if the application does not start.
    """
    hypercorn.asyncio.run.TCPServer = partial(BoundedServer, connections)  # type: ignore[assignment,attr-defined]
    hypercorn.protocol.H11Protocol = StrictProtocol  # type: ignore[assignment,attr-defined]
    await serve(app, _config(listener, settings), shutdown_trigger=stopped)


def reason_of(error: LifespanFailureError) -> str:
    """The application's own reason for not starting, without the text that Hypercorn adds."""
    _, quote, message = str(error).partition("'")
    return message.removesuffix("'") if quote else str(error)


class StrictProtocol(H11Protocol):
    """Hypercorn's HTTP/1.1 with a strict parser, without a switch to HTTP/2, and quicker.

    It has no settings for these. The head of an answer goes out together with what follows it, in one write
    to the socket.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connection = StrictConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )
        self._head = b""

    async def _create_stream(self, request: h11.Request) -> None:
        """As in Hypercorn, which goes through the headers three times; that is slow with h11's own list."""
        headers = [(name.lower(), value) for name, value in request.headers.raw_items()]
        listed = _Request(headers, request.http_version, request.method, request.target)
        await super()._create_stream(listed)  # type: ignore[arg-type]

    async def _send_h11_event(self, event: Any) -> None:
        try:
            data = self.connection.send(event) or b""
        except h11.LocalProtocolError:
            if self.connection.their_state != h11.ERROR:
                raise
            return
        if isinstance(event, h11.Response):
            self._head = data
        elif data or self._head:
            data, self._head = self._head + data, b""
            await self.send(RawData(data=data))

    async def _check_protocol(self, event: h11.Request) -> None:
        """Stay with HTTP/1.1 even if the client asks for an upgrade, as a server may."""


class BoundedServer(TCPServer):
    """Hypercorn's handling of one connection, counted in `Connections`. Hypercorn has no setting for that."""

    def __init__(self, connections: Connections, *args: Any) -> None:
        super().__init__(*args)
        self._connections = connections
        self._idle = _IdleTime(self)
        self.idle_task = self._idle  # type: ignore[assignment]

    async def run(self) -> None:
        """As in Hypercorn, if there is room for the connection."""
        if not self._connections.admit(self):
            self.writer.write(_TURNED_AWAY)
            await self._close()
            return
        try:
            await super().run()
        finally:
            self._connections.leave(self)

    async def protocol_send(self, event: Event) -> None:
        """As in Hypercorn; also notes whether a request is in progress."""
        if not isinstance(event, Updated):
            await super().protocol_send(event)
        elif event.idle:
            self._connections.idle(self)
            self._idle.begin()
        else:
            self._connections.busy(self)
            self._idle.end()

    @property
    def waits_for_client(self) -> bool:
        """Whether the client has not sent the rest of a request's body, or does not read the answer."""
        reader = getattr(getattr(self.protocol, "protocol", None), "connection", None)
        half_read = getattr(reader, "their_state", None) is h11.SEND_BODY
        return half_read or self.writer.transport.get_write_buffer_size() > 0

    def abort(self) -> None:
        """Close the connection at once."""
        self.writer.transport.abort()


class _Request(NamedTuple):
    """The parts of an h11.Request that Hypercorn reads."""

    headers: list[tuple[bytes, bytes]]
    http_version: bytes
    method: bytes
    target: bytes


class _IdleTime:
    """Closes a connection that is idle for too long, or while the server stops.

    Takes the place of Hypercorn's task, which is cancelled and made anew with each request: here, one task
    looks when the connection last became idle.
    """

    def __init__(self, server: BoundedServer) -> None:
        self._server = server
        self._since: float | None = None  # None while a request is in progress
        self._watching: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Note that the connection is idle from now on."""
        self._since = self._server.loop.time()

    def end(self) -> None:
        """Note that a request came."""
        self._since = None

    async def restart(self, task_group: Any, _: Callable[[], Any]) -> None:
        """Begin to watch a new connection; called by Hypercorn."""
        self.begin()
        self._watching = task_group._task_group.create_task(self._watch())

    async def stop(self) -> None:
        """Stop watching, since the connection is closed; called by Hypercorn."""
        if self._watching:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _watch(self) -> None:
        server = self._server
        while (left := self._seconds_left()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(server.context.terminated.wait(), left)
                break
        # While the server stops, the answer to a request in progress closes its connection.
        if self._since is not None:
            await asyncio.shield(server._initiate_server_close())

    def _seconds_left(self) -> float:
        longest = self._server.config.keep_alive_timeout
        return longest if self._since is None else self._since + longest - self._server.loop.time()


def _config(listener: socket.socket, settings: Settings) -> Config:
    config = Config()
    config.bind = [f"fd://{listener.dup().detach()}"]
    config.graceful_timeout = settings.graceful_seconds
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config
