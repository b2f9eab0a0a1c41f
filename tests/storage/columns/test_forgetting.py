"""What an organization keeps no longer goes from the tables, too."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from duckdb import DuckDBPyConnection

from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.ids import InstallId, LinkId
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.apps.installs import record_install
from backend.storage.columns.tables.forgetting import expire, has_expired
from backend.storage.driver.mongo import Database
from backend.storage.sales.batches import store_batches
from backend.system.clock import utc_now
from tests.domain.sales.shelf import START, arrived, batch
from tests.facts.organizations import TestOrganization
from tests.storage.analytics.feeding import catch_up
from tests.storage.analytics.naive.rows import rows_in
from tests.storage.columns.hosts import count, host

DAY = 86_400
VISITOR_TABLES = ("devices", "visits", "identities", "records", "tellings", "record_visits", "installs")


async def test_what_has_expired(
    columns: DuckDBPyConnection, organization: TestOrganization, database: Database
) -> None:
    """Records and installs go when they are so old, devices when they were seen so long ago, each with all
    that belongs to it; without a limit nothing goes."""
    for device, day in (("old", 0), ("young", 10)):
        calls = (
            arrived("attribution", day * DAY, source="news"),
            arrived("identify", day * DAY, customer=device),
            arrived("conversion", day * DAY, revenue=Decimal(1), currency="EUR"),
        )
        await store_batches(database, [batch(*calls, device=device, org=organization.id, second=day * DAY)])
        at = START + timedelta(days=day)
        link_id = LinkId("link")
        await record_install(
            database, Install(organization.id, InstallId(device), AppPlatform.IOS, link_id, at)
        )
    seen = batch(arrived("event", 5 * DAY, name="seen"), device="old", org=organization.id, second=5 * DAY)
    await store_batches(database, [seen])
    await catch_up(database, organization.id, columns)
    sizes = {table: len(rows) for table, rows in rows_in(columns).items()}

    def gone(days: int, after: float) -> dict[str, int]:
        oldest = START + timedelta(days=after - days)
        if has_expired(columns, oldest):
            expire(columns, oldest, oldest)
        rows = rows_in(columns)
        return {table: sizes[table] - len(rows[table]) for table in VISITOR_TABLES}

    nothing = dict.fromkeys(VISITOR_TABLES, 0)
    assert gone(3, 3) == nothing
    old = {"records": 1, "tellings": 1, "record_visits": 1, "installs": 1}
    assert gone(3, 3.01) == gone(3, 7.99) == nothing | old
    of_device = {"devices": 1, "visits": 1, "identities": 1, "records": 2, "tellings": 2, "record_visits": 2}
    assert gone(3, 8.01) == nothing | old | of_device
    assert gone(3, 14) == {table: sizes[table] for table in VISITOR_TABLES}


async def test_a_host_whose_clock_is_wrong(
    organization: TestOrganization, database: Database, tmp_path: Path
) -> None:
    """What expires does so by MongoDB's clock: a host a year ahead deletes nothing that is kept."""
    now = utc_now()
    visit = arrived("event", (now - START).total_seconds(), name="seen")
    await store_batches(database, [batch(visit, org=organization.id, second=(now - START).total_seconds())])
    await set_retention_days(database, organization.id, 30)
    async with host(database, tmp_path, clock=lambda: utc_now() + timedelta(days=365)) as projections:
        assert await count(projections, database, organization.id) == 0
        async with projections._open.using(organization.id) as projection:
            kept = projection.files.connection().execute("SELECT count(*) FROM records").fetchall()
    assert kept == [(1,)]
