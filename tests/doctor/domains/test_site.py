"""What a domain answers to the doctor."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest

from backend.doctor.domains.site import Site, SiteVisitor
from backend.web_client import page_reader
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.page_reader import Unreadable


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
    monkeypatch.setattr(page_reader, "SECONDS", 0.3)
    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        slow = Site("go.shop.example", "https://go.shop.example", f"http://127.0.0.1:{port}")
        network = GuardedNetwork(allows_loopback=True)
        with pytest.raises(Unreadable, match="did not answer in time"):
            async with asyncio.timeout(30):
                await SiteVisitor(slow, network, ssl.create_default_context()).get("x")
