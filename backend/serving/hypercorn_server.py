"""All code that depends on Hypercorn's internals. pyproject.toml limits its versions for that reason."""

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
    """Hypercorn's HTTP/1.1 with a strict parser, and without a switch to HTTP/2.

    It has no settings for these.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connection = StrictConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )

    async def _check_protocol(self, event: h11.Request) -> None:
        """Stay with HTTP/1.1 even if the client asks for an upgrade, as a server may."""


class BoundedServer(TCPServer):
    """Hypercorn's handling of one connection, counted in `Connections`. Hypercorn has no setting for that."""

    def __init__(self, connections: Connections, *args: Any) -> None:
        super().__init__(*args)
        self._connections = connections

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
        if isinstance(event, Updated):
            note = self._connections.idle if event.idle else self._connections.busy
            note(self)
        await super().protocol_send(event)

    @property
    def waits_for_client(self) -> bool:
        """Whether the client has not sent the rest of a request's body, or does not read the answer."""
        reader = getattr(getattr(self.protocol, "protocol", None), "connection", None)
        half_read = getattr(reader, "their_state", None) is h11.SEND_BODY
        return half_read or self.writer.transport.get_write_buffer_size() > 0

    def abort(self) -> None:
        """Close the connection at once."""
        self.writer.transport.abort()


def _config(listener: socket.socket, settings: Settings) -> Config:
    config = Config()
    config.bind = [f"fd://{listener.dup().detach()}"]
    config.graceful_timeout = settings.graceful_seconds
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config
