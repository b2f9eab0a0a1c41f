"""All code that depends on Hypercorn's internals. pyproject.toml limits its versions for that reason."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from time import time
from typing import Any
from urllib.parse import unquote

import h11
import hypercorn.asyncio.run
import hypercorn.protocol
from hypercorn.asyncio import serve
from hypercorn.asyncio.task_group import _handle
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import EndBody, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.utils import LifespanFailureError, build_and_validate_headers

from backend.serving.connections import Connections
from backend.serving.plain_exchange import Headers, PlainRequest, read_request, write_head
from backend.serving.request_framing import StrictConnection
from backend.settings import Settings

# Of every answer of every host, also where no application is asked: what is no script is not run as one.
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_TURNED_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n"
    b"%b: %b\r\n\r\n" % _NO_SNIFFING
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
    hypercorn.protocol.H11Protocol = QuickProtocol  # type: ignore[assignment,attr-defined]
    await serve(app, _config(listener, settings), shutdown_trigger=stopped)


def reason_of(error: LifespanFailureError) -> str:
    """The application's own reason for not starting, without the text that Hypercorn adds."""
    _, quote, message = str(error).partition("'")
    return message.removesuffix("'") if quote else str(error)


class StrictProtocol(H11Protocol):
    """Hypercorn's HTTP/1.1 with a strict parser, and without a switch to HTTP/2.

    Hypercorn has no settings for these.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connection = StrictConnection(
            h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
        )

    async def _check_protocol(self, event: h11.Request) -> None:
        """Stay with HTTP/1.1 even if the client asks for an upgrade, as a server may."""


class QuickProtocol(StrictProtocol):
    """A StrictProtocol in which h11 sees only requests and answers that are not of the plainest form.

    Where an answer turns out not to be, h11 is given its request, and goes on from there.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._plain: bytes | None = None  # the request in progress, if h11 does not know of it
        self._is_answered = False
        # Whether the connection closes after the answer in progress.
        self._is_last = False

    async def handle(self, event: Event) -> None:
        """As in Hypercorn. While a plain request is in progress, what comes behind it waits, as with h11."""
        if isinstance(event, RawData):
            if self._plain is not None and event.data:
                await self.can_read.clear()
                await self.can_read.wait()
            elif self._plain is not None:  # the client sends nothing more
                self._is_last = True
            if self._is_last:
                return
            request = read_request(event.data) if self._is_between_requests else None
            if request:
                await self._begin(request, event.data)
                return
        await super().handle(event)

    @property
    def _is_between_requests(self) -> bool:
        connection = self.connection
        return (
            self.stream is None
            and connection.our_state is h11.IDLE
            and connection.their_state is h11.IDLE
            and not connection.trailing_data[0]
            and not self.context.terminated.is_set()
        )

    async def _begin(self, request: PlainRequest, data: bytes) -> None:
        self._plain, self._is_answered = data, False
        await self.send(Updated(idle=False))
        self.stream = stream = _PlainStream(self)
        stream.begin(request)
        self.keep_alive_requests += 1
        await self.context.mark_request()

    async def send_whole(self, start: Any, body: bytes) -> bool:
        """Send an answer, if it is one of the plainest form and its body the whole of it."""
        if self._plain is None or self.keep_alive_requests >= self.config.keep_alive_max_requests:
            return False
        headers = build_and_validate_headers(start.get("headers", []))
        head = write_head(int(start["status"]), [*headers, *_common_headers(self.config, int(time()))])
        if head is None or len(body) != head.length:
            return False
        self._is_answered = True
        await self.send(RawData(head.data + body))
        return True

    async def stream_send(self, event: StreamEvent) -> None:
        """As in Hypercorn: the next part of an answer that was not sent whole, or its end."""
        if self._plain is None:
            await super().stream_send(event)
        elif not self._is_answered:
            await self._leave_to_h11()
            await super().stream_send(event)
        elif isinstance(event, StreamClosed):
            await self.end_plain()
        elif not isinstance(event, EndBody):
            self._is_last = True
            raise h11.LocalProtocolError("Too much data for declared Content-Length")

    async def _leave_to_h11(self) -> None:
        assert self._plain is not None
        self.connection.receive_data(self._plain)
        for event in iter(self.connection.next_event, h11.NEED_DATA):
            if isinstance(event, h11.EndOfMessage):
                break
        if self._is_last:
            self.connection.receive_data(b"")
            self.connection.next_event()
        self._plain = None

    async def end_plain(self) -> None:
        """Go on to the next request, as Hypercorn's `_maybe_recycle` does."""
        self._plain = None
        # Without a stream, the client is gone. What came behind the last request is not handled.
        self._is_last = self._is_last or self.stream is None or self.context.terminated.is_set()
        await self._close_stream()
        await self.can_read.set()
        await self.send(Closed() if self._is_last else Updated(idle=True))


class _PlainStream(HTTPStream):
    """A request that arrived whole, and its answer, which is held back until it is known to be whole.

    Hypercorn has a queue for the body and an event for each part of the answer; neither is needed here.
    """

    def __init__(self, protocol: QuickProtocol) -> None:
        places = (protocol.ssl, protocol.client, protocol.server)
        application = (protocol.app, protocol.config, protocol.context, protocol.task_group)
        super().__init__(*application, *places, protocol.stream_send, STREAM_ID)
        self._protocol = protocol
        self._start: Any = None  # the head of the answer, as long as it is held back
        self._body: bytes | None = None  # until the application has asked for it
        self._gone: asyncio.Future[None] | None = None  # what the application waits for, if it asks again

    def begin(self, request: PlainRequest) -> None:
        """Give the request to the application."""
        method, target, headers, self._body = request
        self.start_time = time()
        path, _, query = target.partition(b"?")
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": method,
            "scheme": self.scheme,
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": self.config.root_path,
            "headers": headers,
            "client": self.client,
            "server": self.server,
            "state": self._protocol.connection_state.copy(),  # type: ignore[typeddict-item]
            "extensions": {},
        }
        # The application gets neither Hypercorn's threads nor its loop, which are for WSGI.
        ways: tuple[Any, ...] = (self._receive, self.app_send, None, None)
        self.task_group.spawn(_handle, self.app, self.config, self.scope, *ways)

    async def _receive(self) -> Any:
        """The next message for the application: the whole body, then the end of the connection."""
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        if not self.closed:
            self._gone = self._gone or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._gone)
        return {"type": "http.disconnect"}

    async def app_put(self, message: Any) -> None:
        """As in Hypercorn: tell the application something, here that the request is over."""
        if self._gone and not self._gone.done():
            self._gone.set_result(None)

    async def app_send(self, message: Any) -> None:
        """As in Hypercorn: the next part of the answer; None when the application has ended."""
        start, kind = self._start, message["type"] if message else ""
        if start is None and self.state is ASGIHTTPState.REQUEST and kind == "http.response.start":
            self._start = message
            return
        self._start = None
        if start and kind == "http.response.body" and await self._protocol.send_whole(start, _body(message)):
            self.response, self.state = start, ASGIHTTPState.RESPONSE
            if not message.get("more_body", False):
                self.state = ASGIHTTPState.CLOSED
                await self._protocol.end_plain()
            return
        if start:
            await super().app_send(start)
        await super().app_send(message)


def _body(message: Any) -> bytes:
    return bytes(message.get("body", b""))


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


class _Config(Config):
    def response_headers(self, protocol: str) -> Headers:
        """What Hypercorn adds to every answer, also to those that are its own: the date, and ours."""
        return [*super().response_headers(protocol), _NO_SNIFFING]


@lru_cache(maxsize=1)
def _common_headers(config: Config, _second: int) -> Headers:
    """What every answer has. It is written anew each second only."""
    return config.response_headers("h11")


def _config(listener: socket.socket, settings: Settings) -> Config:
    config = _Config()
    config.bind = [f"fd://{listener.dup().detach()}"]
    config.graceful_timeout = settings.graceful_seconds
    config.keep_alive_timeout = settings.keep_alive_seconds
    # As many as nginx lets wait: one more than that waits a second, or three, until it asks again.
    config.backlog = 511
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config
