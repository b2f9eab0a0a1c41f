"""A database that no service works on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.indexes import create_indexes
from tests import used_databases


@asynccontextmanager
async def fresh_database(beside: Database) -> AsyncIterator[Database]:
    """An empty database with its indexes, on the server of another; it may have been another test's."""
    client = beside.client.delegate
    hosts = frozenset(client.nodes)
    used = await asyncio.to_thread(used_databases.take, hosts, client)
    name = used or f"test_{uuid.uuid4().hex[:12]}"
    fresh = beside.client.get_database(name, codec_options=beside.codec_options)
    if not used:
        await create_indexes(fresh)
    yield fresh
    used_databases.give_back(hosts, name)
