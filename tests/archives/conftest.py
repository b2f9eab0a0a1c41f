"""An archive that has something of everything, and a database that has nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from backend.app import Service
from backend.archives.export import export_organization
from backend.storage.driver.mongo import Database
from tests.archives.forging import Archive, remove
from tests.archives.full_organization import fill
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database


@pytest.fixture(scope="package")
async def elsewhere(database: Database) -> AsyncIterator[Database]:
    """A fresh database, in which the tests that share it leave nothing."""
    async with fresh_database(database) as fresh:
        yield fresh


@pytest.fixture(scope="package")
async def archive(service: Service, database: Database, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """The archive of an organization that had something in every collection."""
    organization = await create_test_organization(database)
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        await fill(client, database, organization)
    file = tmp_path_factory.mktemp("archive") / "organization.jsonl"
    await export_organization(database, organization.id, file, lambda *_: None)
    archive = Archive(file, organization)
    await remove(database, archive)
    return archive
