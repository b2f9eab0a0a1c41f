"""Stops a server without losing requests: every accepted request is answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
from array import array
from typing import Any

from backend.operations.health import IS_LAST, STOPPING

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
