"""Whatever of ours knows Hypercorn's insides; pyproject.toml bounds the versions it was written for."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import h11
import hypercorn.asyncio.run
import hypercorn.protocol
from hypercorn.asyncio import serve
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from hypercorn.events import Event, Updated
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
    """Serve an ASGI application on a bound socket, which stays the caller's, until `stopped` returns.

    `connections` are those of the whole process. Then waits at most `graceful_seconds` for what is under way.
    Raises StartFailed where the application does not start.
    """
    hypercorn.asyncio.run.TCPServer = partial(BoundedServer, connections)  # type: ignore[assignment,attr-defined]
    hypercorn.protocol.H11Protocol = StrictProtocol  # type: ignore[assignment,attr-defined]
    await serve(app, _config(listener, settings), shutdown_trigger=stopped)


def reason_of(error: LifespanFailureError) -> str:
    """What the application said as it failed to start, without Hypercorn's words around it."""
    _, quote, message = str(error).partition("'")
    return message.removesuffix("'") if quote else str(error)


class StrictProtocol(H11Protocol):
    """Hypercorn's HTTP/1.1 with a strict reader, that never becomes HTTP/2; it has no setting for either."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connection = StrictConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )

    async def _check_protocol(self, event: h11.Request) -> None:
        """Stay with HTTP/1.1, as a server may whose clients ask for an upgrade."""


class BoundedServer(TCPServer):
    """Hypercorn's side of one connection, counted among those of the process; it has no setting for it."""

    def __init__(self, connections: Connections, *args: Any) -> None:
        super().__init__(*args)
        self._connections = connections

    async def run(self) -> None:
        """As Hypercorn's, where there is room for it."""
        if not self._connections.admit(self):
            self.writer.write(_TURNED_AWAY)
            await self._close()
            return
        try:
            await super().run()
        finally:
            self._connections.leave(self)

    async def protocol_send(self, event: Event) -> None:
        """As Hypercorn's, which says here whether a request is under way."""
        if isinstance(event, Updated):
            note = self._connections.idle if event.idle else self._connections.busy
            note(self)
        await super().protocol_send(event)

    @property
    def waits_for_client(self) -> bool:
        """Whether the rest of a request's body has not come, or the answer is not taken."""
        reader = getattr(getattr(self.protocol, "protocol", None), "connection", None)
        half_read = getattr(reader, "their_state", None) is h11.SEND_BODY
        return half_read or self.writer.transport.get_write_buffer_size() > 0

    def abort(self) -> None:
        """End it at once."""
        self.writer.transport.abort()


def _config(listener: socket.socket, settings: Settings) -> Config:
    config = Config()
    config.bind = [f"fd://{listener.dup().detach()}"]
    config.graceful_timeout = settings.graceful_seconds
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config
