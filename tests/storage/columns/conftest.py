"""A host whose process answers questions, and an organization on it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from backend.concurrency.processes import who_locks
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.messages import LOCK
from backend.storage.driver.mongo import Database
from tests.polling import until


@pytest.fixture(scope="module")
def own_settings(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a host of these tests' own. What a test does to its process, the next one outlives.

    A question that never ends takes one processor, and not all of them.
    """
    folder = tmp_path_factory.mktemp("host")
    return replace(settings, data_dir=folder, analytics_seconds=2, analytics_threads=1)


@pytest.fixture(scope="module")
async def analytics(database: Database, own_settings: Settings) -> AsyncIterator[Analytics]:
    """Asks on that host."""
    analytics = Analytics(database, own_settings)
    yield analytics
    await analytics.close()
    lock = own_settings.data_dir / "analytics" / LOCK
    await until(lambda: not lock.exists() or who_locks(lock) is None, "the process goes on")


@pytest.fixture
def org_id() -> OrgId:
    """An organization of the test's own."""
    return OrgId(str(uuid.uuid4()))
