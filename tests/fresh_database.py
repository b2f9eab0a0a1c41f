"""A database that no service works on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.storage.indexes import create_indexes
from backend.storage.mongo import Database


@asynccontextmanager
async def fresh_database(beside: Database) -> AsyncIterator[Database]:
    """A new database with its indexes, on the server of another; it is dropped at the end."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    fresh = beside.client.get_database(name, codec_options=beside.codec_options)
    await create_indexes(fresh)
    yield fresh
    await fresh.client.drop_database(name)
