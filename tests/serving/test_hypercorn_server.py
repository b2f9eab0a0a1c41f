"""What we change in Hypercorn: which connections there are, and how an answer is written."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import hypercorn.asyncio.run
import hypercorn.protocol
import pytest

from backend.serving import hypercorn_server
from backend.serving.connections import Connections
from backend.settings import Settings

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
IDLE_SECONDS = 1.2  # a third of it is a long time also on a busy machine
SETTINGS = Settings(keep_alive_seconds=IDLE_SECONDS)
START = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]}


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test changes in Hypercorn, such as how many connections there may be, ends with it."""
    monkeypatch.setattr(hypercorn.asyncio.run, "TCPServer", hypercorn.asyncio.run.TCPServer)  # type: ignore[attr-defined]
    monkeypatch.setattr(hypercorn.protocol, "H11Protocol", hypercorn.protocol.H11Protocol)  # type: ignore[attr-defined]


@asynccontextmanager
async def serving(answer: Callable[[Any], Any], most_connections: int = 10) -> AsyncIterator[socket.socket]:
    """A connection to a server whose application sends an answer by this function."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for message in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{message}.complete"})
        else:
            await answer(send)

    stop = asyncio.Event()
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        running = asyncio.create_task(
            hypercorn_server.serve_on(app, listener, SETTINGS, Connections(most_connections), stop.wait)  # type: ignore[arg-type]
        )
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, listener.getsockname())
        yield client
        stop.set()
        await asyncio.wait_for(running, timeout=20)


async def ask(client: socket.socket) -> bytes:
    """What one read gets of the answer to a request; nothing once the connection is closed."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(client, REQUEST)
    return await asyncio.wait_for(loop.sock_recv(client, 65536), timeout=20)


async def quick(send: Any) -> None:
    """Answer at once."""
    await send(START)
    await send({"type": "http.response.body", "body": b"done"})


async def test_an_answer_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its head and its body are handed to the socket together."""
    written: list[bytes] = []
    write = asyncio.StreamWriter.write

    def note(self: asyncio.StreamWriter, data: bytes) -> None:
        written.append(data)
        write(self, data)

    monkeypatch.setattr(asyncio.StreamWriter, "write", note)
    async with serving(quick) as client:
        assert await ask(client) == b"".join(written)
        assert len(written) == 1
        assert written[0].startswith(b"HTTP/1.1 200")
        assert written[0].endswith(b"\r\n\r\ndone")


async def test_an_answer_in_pieces_is_not_held_back() -> None:
    """The head comes with the first piece, before the second one is there."""
    more = asyncio.Event()

    async def in_pieces(send: Any) -> None:
        await send(START)
        await send({"type": "http.response.body", "body": b"do", "more_body": True})
        await more.wait()
        await send({"type": "http.response.body", "body": b"ne"})

    async with serving(in_pieces) as client:
        assert (await ask(client)).endswith(b"\r\n\r\ndo")
        more.set()
        loop = asyncio.get_running_loop()
        assert await asyncio.wait_for(loop.sock_recv(client, 100), timeout=20) == b"ne"


async def test_a_connection_that_was_idle_for_too_long_is_closed() -> None:
    """Also one that had requests before, which begin the time anew."""
    async with serving(quick) as client:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(4):
            assert await ask(client)
            await asyncio.sleep(IDLE_SECONDS / 3)
        assert loop.time() - began > IDLE_SECONDS
        assert await asyncio.wait_for(loop.sock_recv(client, 100), timeout=20) == b""


async def test_a_connection_at_work_is_not_idle() -> None:
    """An answer may take longer than a connection may be idle."""

    async def slow(send: Any) -> None:
        await asyncio.sleep(2 * IDLE_SECONDS)
        await quick(send)

    async with serving(slow) as client:
        assert (await ask(client)).endswith(b"done")


async def test_a_connection_too_many_is_told_to_come_back() -> None:
    """While all others are at work, it gets 503 and is closed; they are answered."""
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def when_told(send: Any) -> None:
        is_asked.set()
        await may_answer.wait()
        await quick(send)

    loop = asyncio.get_running_loop()
    async with serving(when_told, most_connections=1) as client:
        first_answer = asyncio.create_task(ask(client))
        await is_asked.wait()
        with socket.socket() as late_client:
            late_client.setblocking(False)
            await loop.sock_connect(late_client, client.getpeername())
            refusal = await asyncio.wait_for(loop.sock_recv(late_client, 65536), timeout=20)
            assert refusal.startswith(b"HTTP/1.1 503")
            assert b"\r\nx-content-type-options: nosniff\r\n" in refusal
            assert b"\r\nRetry-After: 1\r\n" in refusal
            assert await asyncio.wait_for(loop.sock_recv(late_client, 100), timeout=20) == b""
        may_answer.set()
        assert (await first_answer).endswith(b"done")
