"""Who makes the indexes, which carry the rules."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from backend.settings import Settings
from backend.storage import click_counts, indexes, users
from backend.storage.collections import declared_compressors, declared_indexes
from backend.storage.database import Indexes, open_database
from backend.storage.indexes import create_indexes
from backend.storage.mongo import Database


@pytest.fixture
async def fresh(settings: Settings, database: Database) -> AsyncIterator[Settings]:
    """Settings with a database that nobody has used; it is dropped at the end."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield replace(settings, mongodb_database=name)
    await database.client.drop_database(name)


async def indexes_of(database: Database) -> dict[str, set[Any]]:
    """The names of each collection's indexes, but for that on `_id`."""
    names = await database.list_collection_names()
    return {name: {*await database[name].index_information()} - {"_id_"} for name in names}


async def test_a_command_on_a_new_database_makes_every_index(fresh: Settings) -> None:
    """What a first command stores is under the same rules as what a service stores."""
    async with open_database(fresh) as database:
        made = await indexes_of(database)
    assert {name: len(made.get(name, ())) for name in declared_indexes()} == {
        name: len(declared) for name, declared in declared_indexes().items()
    }


async def test_counts_of_clicks_are_compressed(fresh: Settings) -> None:
    """They are made with the compression that they declare, and only once: a start finds them there."""
    async with open_database(fresh) as database:
        await create_indexes(database)
        stats = [await database.command("collStats", each) for each in declared_compressors()]
    assert len(stats) == 2
    assert all("block_compressor=zstd" in each["wiredTiger"]["creationString"] for each in stats)


async def test_a_server_that_allows_no_compression_of_our_own(
    fresh: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own is taken, and indexes are made all the same."""
    monkeypatch.setattr(indexes, "declared_compressors", lambda: {click_counts.NAME: "unknown"})
    async with open_database(fresh) as database:
        made = await indexes_of(database)
    assert len(made[click_counts.NAME]) == len(declared_indexes()[click_counts.NAME])


async def test_a_service_mends_what_is_missing(fresh: Settings) -> None:
    """An index that is gone is made when a service starts, not by commands, which answer at once."""
    async with open_database(fresh) as database:
        await database[users.NAME].drop_indexes()
    async with open_database(fresh) as database:
        assert (await indexes_of(database))[users.NAME] == set()
    async with open_database(fresh, Indexes.MAKE) as database:
        mended = await indexes_of(database)
    assert len(mended[users.NAME]) == len(declared_indexes()[users.NAME])


async def test_days_of_a_former_version_are_named(fresh: Settings) -> None:
    """Where the index of days is new, documents of earlier days get theirs, and no other document does."""
    link_id = uuid.uuid4()
    async with open_database(fresh) as database:
        await database[click_counts.NAME].drop_indexes()
        buckets = [
            {"_id": f"{link_id}/{bucket}"} for bucket in ("total", "day/2026-01-31", "hour/2026-01-31T10")
        ]
        await database[click_counts.NAME].insert_many(buckets)
    async with open_database(fresh, Indexes.MAKE) as database:
        found = [each async for each in database[click_counts.NAME].find({"day": {"$exists": True}})]
    assert found == [{"_id": f"{link_id}/day/2026-01-31", "day": "2026-01-31"}]
