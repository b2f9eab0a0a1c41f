"""What a domain answers to the doctor."""

from __future__ import annotations

import asyncio
import contextlib

import httpx
import pytest

from backend.doctor import site


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An answer that never ends, a byte after the other."""
    with contextlib.suppress(ConnectionError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)


async def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole answer has a time, and not only each byte of it."""
    monkeypatch.setattr(site, "SECONDS", 0.3)
    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server, httpx.AsyncClient() as client:
        port = server.sockets[0].getsockname()[1]
        slow = site.Site("go.shop.example", "https://go.shop.example", f"http://127.0.0.1:{port}")
        with pytest.raises(httpx.ReadTimeout, match="it took more than"):
            async with asyncio.timeout(30):
                await slow.get(client, "x")
