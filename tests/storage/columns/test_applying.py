"""What becomes of a feed in columns: the rows that a naive reading of the documents gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.app import Service
from backend.domain.ids import LinkId
from backend.domain.visitors import attribution
from backend.domain.visitors.persons import Subject
from backend.storage.clicks import blocks as click_blocks
from backend.storage.columns.loading import load
from backend.storage.driver.mongo import Database
from backend.storage.feed.packed import MOST_ENTRIES
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales import leads
from backend.storage.sales.batches import store_batches
from tests.api.whole_links import Links
from tests.domain.sales.shelf import START, arrived, batch
from tests.examples import examples
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion
from tests.fresh_database import fresh_database
from tests.storage.analytics.fed_history import ACTS, Act, Stage
from tests.storage.analytics.feeding import catch_up
from tests.storage.analytics.naive.rows import rows_in, rows_of
from tests.storage.analytics.tables import tables, written


@pytest.fixture(scope="module")
async def stage(service: Service) -> AsyncIterator[Stage]:
    """A database of this file's own, in which no service does anything."""
    async with fresh_database(service.resources.database) as database:
        yield Stage(database)


@given(acts=st.lists(ACTS, min_size=1, max_size=3), limit=st.sampled_from([1, 2, MOST_ENTRIES]))
@settings(max_examples=examples(3))
async def test_the_rows_are_those_of_the_documents(
    stage: Stage, acts: Sequence[Sequence[Act]], limit: int
) -> None:
    """Whatever is stored, and whoever is forgotten: the rows are those of the documents as they are now,
    however the feed is split into pages, also where it is read again, or everything was loaded in between."""
    database, first = stage.database, 0
    with pytest.MonkeyPatch.context() as patch, tables() as columns, tables() as loaded, tables() as late:
        patch.setattr(attribution, "TOUCHES_KEPT", 2)
        await stage.clear()
        for number, some in enumerate(acts):
            await stage.play(some, first)
            first += len(some)
            await catch_up(database, stage.org_id, columns, limit)
            expected = await rows_of(database, stage.org_id)
            assert rows_in(columns) == expected
            if number == 0:
                assert await load(database, stage.org_id, written(loaded)) == []
                assert rows_in(loaded) == expected
        await catch_up(database, stage.org_id, loaded, limit)
        assert rows_in(loaded) == expected
        columns.execute("UPDATE state SET place = 0")
        for connection in (columns, late):
            await catch_up(database, stage.org_id, connection)
            assert rows_in(connection) == expected


async def test_an_erased_lead_of_a_device_of_others(
    columns: DuckDBPyConnection, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A lead that names an e-mail address, and only the device of somebody else, goes with its person."""
    visitor, email = Visitor(client, organization), "a" * 64
    await visitor.results(call("identify", customer_id="bob"), call("lead", event_id="bobs"))
    await visitor.results(call("lead", email_sha256=email))
    await catch_up(database, organization.id, columns)
    assert len(rows_in(columns)["records"]) == 2
    erased = await erase_subject(database, organization.id, Subject(email_sha256=email))
    assert erased[leads.NAME] == 1
    await catch_up(database, organization.id, columns)
    assert len(rows_in(columns)["records"]) == 1
    assert rows_in(columns) == await rows_of(database, organization.id)


async def test_an_erasure_of_many(
    columns: DuckDBPyConnection, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """More than is erased at once goes as well, also where some of it names others in what was told."""
    visitor = Visitor(client, organization)
    await visitor.results(
        call("identify", customer_id="ada"), *(call("event", name="seen") for _ in range(5)), conversion()
    )
    await catch_up(database, organization.id, columns)
    assert len(rows_in(columns)["records"]) == 6
    subject = Subject(device_id=visitor.device_id)
    erased = await erase_subject(database, organization.id, subject, most=2)
    assert (erased["events"], erased["conversions"], erased["devices"]) == (5, 1, 1)
    await catch_up(database, organization.id, columns)
    rows = rows_in(columns)
    assert [rows[table] for table in ("devices", "records", "visits", "identities")] == [[]] * 4


async def test_a_late_touch_that_no_list_keeps(
    columns: DuckDBPyConnection, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A touch that arrives late may change nothing of its device, and still the copy that a record has."""
    monkeypatch.setattr(attribution, "TOUCHES_KEPT", 2)
    await stage.clear()
    visits = [arrived("attribution", second, source=f"s{second}") for second in (0, 40, 50)]
    await store_batches(stage.database, [batch(*visits, arrived("event", 30, name="seen"))])
    await catch_up(stage.database, stage.org_id, columns)
    before = rows_in(columns)
    late = arrived("attribution", 20, source="late")
    await store_batches(stage.database, [batch(late, second=90)])
    await catch_up(stage.database, stage.org_id, columns)
    after = rows_in(columns)
    assert after == await rows_of(stage.database, stage.org_id)
    assert after["visits"] == before["visits"]
    assert after["record_visits"] != before["record_visits"]


async def test_a_purged_link(
    columns: DuckDBPyConnection, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Of a link that was deleted for good, its clicks and visits keep its id, and nothing else is left."""
    link = await Links(client, organization).make(link_name="Spring", utm_campaign="spring")
    link_id = LinkId(link["id"])
    await Visitor(client, organization).results(check(cl_link_id=link_id), conversion())
    await catch_up(database, organization.id, columns)
    assert [row[:2] for row in rows_in(columns)["links"]] == [(link_id, organization.domain)]
    await Links(client, organization).call("DELETE", f"/{link_id}")
    await Links(client, organization).call("DELETE", f"/{link_id}?purge=true")
    await catch_up(database, organization.id, columns)
    rows = rows_in(columns)
    assert rows == await rows_of(database, organization.id)
    assert (rows["links"], rows["visits"][0][3]) == ([], link_id)


async def test_a_block_that_is_damaged(columns: DuckDBPyConnection, stage: Stage) -> None:
    """A block that can't be read is told of, and the rest of the feed is applied."""
    await stage.clear()
    for number in range(3):
        await ship(stage.database, [click(stage.org_id, LinkId("l"), START, visitor=number)])
    damaged = await stage.database[click_blocks.NAME].find_one_and_update({}, {"$set": {"packed": b"?"}})
    assert damaged
    assert await catch_up(stage.database, stage.org_id, columns) == [damaged["_id"]]
    assert len(rows_in(columns)["clicks"]) == 2
    assert rows_in(columns) == await rows_of(stage.database, stage.org_id)
