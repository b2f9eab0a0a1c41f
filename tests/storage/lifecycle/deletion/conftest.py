"""A service on a database of these tests' own: they read all that is stored, and delete all that is due."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from backend.app import Service, create_app
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from tests.processes.service_process import own_database


@pytest.fixture(scope="package")
async def service(
    mongodb_uri: str, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    """The service of these tests, started."""
    with own_database(mongodb_uri) as own:
        folder, name = tmp_path_factory.mktemp("data"), own["WAYLINK_MONGODB_DATABASE"]
        service = create_app(replace(settings, mongodb_database=name, data_dir=folder))
        await service.startup()
        yield service
        await service.shutdown()


@pytest.fixture(scope="package")
def database(service: Service) -> Database:
    """Its database."""
    return service.resources.database
