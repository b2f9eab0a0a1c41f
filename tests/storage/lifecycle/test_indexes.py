"""Who makes the indexes, which carry the rules."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from backend.settings import Settings
from backend.storage.accounts.users import users
from backend.storage.database import Indexes, open_database
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import declared_indexes


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


async def test_a_command_makes_every_index_and_a_service_mends_what_is_missing(fresh: Settings) -> None:
    """What a first command stores is under the same rules as what a service stores. An index that is gone is
    made when a service starts, not by commands, which answer at once."""
    declared = {name: len(indexes) for name, indexes in declared_indexes().items()}
    async with open_database(fresh) as database:
        made = await indexes_of(database)
        assert {name: len(made.get(name, ())) for name in declared} == declared
        await database[users.NAME].drop_indexes()
    async with open_database(fresh) as database:
        assert (await indexes_of(database))[users.NAME] == set()
    async with open_database(fresh, Indexes.MAKE) as database:
        mended = await indexes_of(database)
    assert mended == made
