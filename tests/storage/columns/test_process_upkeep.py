"""The process keeps its files up within the hour: of what was erased and deleted, no byte is left in any."""

from __future__ import annotations

import os
import signal
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from backend.concurrency.processes import who_locks
from backend.domain.ids import CustomerId, OrgId
from backend.domain.visitors.persons import Subject
from backend.settings import Settings
from backend.storage.accounts.deleted_organizations import begin_deletion
from backend.storage.analytics import upkeep
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.messages import KEPT_UP, LOCK
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.system.clock import utc_now
from tests.polling import until
from tests.storage.columns.asked_process import NOW, count, pid_of, visit
from tests.storage.columns.hosts import files_with


async def test_nothing_is_left_of_a_deleted_organization(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """The file of an organization goes with it, also where nobody asks for it again."""
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    path = own_settings.data_dir / "analytics" / f"{org_id}.duckdb"
    assert path.exists()

    async def delete(session: ClientSession) -> None:
        await begin_deletion(database, session, org_id, NOW)

    await in_transaction(database, delete)
    await analytics.keep_up()
    assert not path.exists()


async def test_no_byte_is_left_of_who_was_erased(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """Once the host keeps its files up, the bytes of an erased person are in none of them."""
    name = f"ada-{uuid.uuid4().hex}"
    folder = own_settings.data_dir / "analytics"
    for whose in (name, "somebody else"):
        await told_of(analytics, database, org_id, whose)
    await erase_subject(database, org_id, Subject(customer_id=CustomerId(name)))
    assert await count(analytics, org_id) == 0
    assert files_with(folder, name.encode()) == [f"{org_id}.duckdb.wal"]
    await analytics.keep_up()
    assert await count(analytics, org_id) == 0
    os.kill(pid_of(own_settings), signal.SIGKILL)
    await until(lambda: who_locks(folder / LOCK) is None, "the process goes on")
    assert files_with(folder, name.encode()) == []


async def told_of(analytics: Analytics, database: Database, org_id: OrgId, name: str) -> None:
    """Have a customer of this name in the columns."""
    lead = {"org_id": org_id, "at": NOW, "device_id": None, "customer_id": name}
    untouched = {"_id": f"{org_id}/{uuid.uuid4()}", "first_touch": None, "touch": None}
    await database["leads"].insert_one(lead | untouched)
    assert await count(analytics, org_id) == 0


async def test_nothing_is_left_by_who_was_killed(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """What a process had laid aside, and files that it was writing anew, are gone with the next process,
    which the upkeep starts."""
    folder, name = own_settings.data_dir / "analytics", f"ada-{uuid.uuid4().hex}"
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    os.kill(pid_of(own_settings), signal.SIGKILL)
    await until(lambda: who_locks(folder / LOCK) is None, "the process goes on")
    (folder / "spills").mkdir(exist_ok=True)
    left = ("spills/duckdb_temp_storage-0.tmp", f"{org_id}.duckdb.new", f"{uuid.uuid4()}.duckdb.new.wal")
    for file in left:
        (folder / file).write_text(name)
    await analytics.keep_up()
    assert files_with(folder, name.encode()) == []
    assert await count(analytics, org_id) == 1


async def test_nothing_is_left_where_no_organization_has_a_file(
    database: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a process that was killed had laid aside goes too, and logs of files that are gone."""
    monkeypatch.setattr(upkeep, "_LOOK_EVERY", timedelta(seconds=0.1))
    folder, gone = tmp_path / "analytics", uuid.uuid4()
    analytics = Analytics(database, replace(settings, data_dir=tmp_path))
    for name in ("spills/duckdb_temp_storage-0.tmp", "files/answer/rows.parquet", f"{gone}.duckdb.wal"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("ada")
        (folder / KEPT_UP).unlink(missing_ok=True)
        task = upkeep.analytics_upkeep(database, analytics, utc_now)
        await task.start()
        await until((folder / KEPT_UP).exists, "it is not kept up")
        await task.stop()
        assert files_with(folder, b"ada") == []
        await analytics.close()
        await until(lambda: who_locks(folder / LOCK) is None, "the process goes on")


async def test_the_hour_goes_on_through_restarts(
    analytics: Analytics,
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A service that starts looks when the files of its host were kept up last, and not how long it runs; it
    asks again each minute until nothing is left."""
    folder, name = own_settings.data_dir / "analytics", f"ada-{uuid.uuid4().hex}"
    await told_of(analytics, database, org_id, name)
    await analytics.keep_up()
    await erase_subject(database, org_id, Subject(customer_id=CustomerId(name)))
    monkeypatch.setattr(upkeep, "_LOOK_EVERY", timedelta(seconds=0.1))
    looked: list[list[OrgId]] = []
    org_ids = analytics.org_ids

    async def counted() -> list[OrgId]:
        looked.append(await org_ids())
        return looked[-1]

    monkeypatch.setattr(analytics, "org_ids", counted)
    for minutes, is_due in ((40, False), (50, True)):
        task = upkeep.analytics_upkeep(database, analytics, partial(later, timedelta(minutes=minutes)))
        looks = len(looked)
        await task.start()
        await until(lambda: len(looked) > looks + 1, "it does not look")  # noqa: B023 - in this round
        await task.stop()
        assert (files_with(folder, name.encode()) == []) is is_due


def later(by: timedelta) -> datetime:
    """The time after now."""
    return utc_now() + by
