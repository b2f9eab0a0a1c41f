"""Connections to MongoDB."""

from __future__ import annotations

import gc

from backend.storage.driver.connection import connect, uri_of


async def test_two_connections_to_one_server_are_two(mongodb_uri: str) -> None:
    """The driver takes them for equal; the address of the second is known though the first has ended."""
    first = connect(mongodb_uri, "first", 5)
    client = (await first.__aenter__()).client
    async with connect(mongodb_uri, "second", 5) as second:
        assert second.client == client
        await first.__aexit__(None, None, None)
        del client, first
        gc.collect()
        assert uri_of(second) == mongodb_uri
