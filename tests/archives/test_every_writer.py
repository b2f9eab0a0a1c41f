"""Whatever the service stores can be restored: each writer is driven to its own maximum, and archived."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from backend.app import Service
from backend.archives.archive_file import read_entries, read_header
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import archived_collections
from tests.archives.forging import Archive, remove, restore
from tests.archives.test_archive import archive_content, export
from tests.archives.writers.every import WRITERS
from tests.archives.writers.place import Place, Writer
from tests.examples import examples
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database


@pytest.fixture(scope="module")
async def elsewhere(database: Database) -> AsyncIterator[Database]:
    """A database of this file's own: it is full of what is restored."""
    async with fresh_database(database) as fresh:
        yield fresh


def test_every_archived_collection_has_a_writer_here() -> None:
    """Who adds a collection to archives says here how it comes to have its longest values."""
    assert WRITERS.keys() == archived_collections().keys()


WRITTEN = {write: [name for name in WRITERS if WRITERS[name] is write] for write in WRITERS.values()}


@pytest.mark.parametrize("write", WRITTEN, ids=lambda write: write.__name__.removeprefix("write_"))
@given(data=st.data())
@settings(max_examples=examples(1), suppress_health_check=list(HealthCheck), phases=[Phase.generate])
async def test_what_a_writer_stores_at_its_limits_is_restored(
    service: Service,
    database: Database,
    elsewhere: Database,
    tmp_path_factory: Any,
    write: Writer,
    data: st.DataObject,
) -> None:
    """Exported, restored elsewhere and exported again, it is the same to the byte."""
    folder: Path = tmp_path_factory.mktemp("written")
    organization = await create_test_organization(database)
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        await write(Place(client, database, organization, data.draw))
    first, second = folder / "first.jsonl", folder / "second.jsonl"
    await export(database, organization.id, first)
    assert {*WRITTEN[write]} <= {entry.collection for entry in read_entries(first, read_header(first))}
    await restore(elsewhere, first)
    await export(elsewhere, organization.id, second)
    assert archive_content(first) == archive_content(second)
    await remove(database, Archive(first, organization))
