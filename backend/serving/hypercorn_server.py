"""Whatever of ours knows Hypercorn's insides; pyproject.toml bounds the versions it was written for."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import h11
import hypercorn.protocol
from hypercorn.asyncio import serve
from hypercorn.config import Config
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.utils import LifespanFailureError

from backend.serving.request_framing import StrictConnection
from backend.settings import Settings

# What `serve_on` raises, maybe in a group, where the application did not start.
StartFailed = LifespanFailureError


async def serve_on(
    app: Any, listener: socket.socket, settings: Settings, stopped: Callable[[], Awaitable[None]]
) -> None:
    """Serve an ASGI application on a bound socket, which stays the caller's, until `stopped` returns.

    Then waits at most `graceful_seconds` for what is under way. Raises StartFailed where the application
    does not start.
    """
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


def _config(listener: socket.socket, settings: Settings) -> Config:
    config = Config()
    config.bind = [f"fd://{listener.dup().detach()}"]
    config.graceful_timeout = settings.graceful_seconds
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config
