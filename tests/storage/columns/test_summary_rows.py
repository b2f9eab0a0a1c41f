"""Days whose single clicks have expired, in answers: the same figures as before, without single clicks."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Query
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.clicks.latest_clicks import LatestClicks
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.columns.loading import load
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.facts.clicks import click, ship

DAY = datetime(2026, 1, 5, tzinfo=UTC)
NOW = DAY + timedelta(days=50)


@pytest.fixture
async def other_host(database: Database, settings: Settings, tmp_path: Path) -> AsyncIterator[Analytics]:
    """A host that nobody has asked yet."""
    analytics = Analytics(database, replace(settings, data_dir=tmp_path))
    yield analytics
    await analytics.close()


async def figures(analytics: Analytics, org_id: OrgId) -> list[object]:
    """What is told of the days, by everything that stays."""
    period = QueryPeriod(DAY, DAY + timedelta(days=3), UTC)
    counts = (Measure.CLICKS, Measure.NOT_COUNTED)
    asked = [
        Query(period=period, measures=counts, group_by=(Field.HOUR, Field.COUNTRY, Field.BROWSER)),
        Query(period=period, measures=counts, group_by=(Field.LINK, Field.VARIANT, Field.OUTCOME)),
        Query(period=period, measures=(Measure.VISITORS,), group_by=(Field.DAY,)),
        Query(period=period, measures=(Measure.VISITORS,), group_by=(Field.LINK,)),
    ]
    answers = await analytics.ask_all(org_id, [AskQuery(query) for query in asked])
    window = await analytics.ask(org_id, ClickWindow(LinkId("one"), NOW))
    return [*((list(answer.rows), answer.totals) for answer in answers), window]


async def test_figures_stay_when_days_are_added_up(
    analytics: Analytics,
    other_host: Analytics,
    database: Database,
    make_organization: OrganizationFactory,
) -> None:
    """A host that follows the feed and one that begins anew say what they said before; single clicks go."""
    organization = await make_organization()
    clicks = [
        click(
            organization.id,
            LinkId(("one", "two")[number % 2]),
            DAY + timedelta(minutes=37 * number, milliseconds=number),
            country=(None, "DE", "FR")[number % 3],
            browser=("Firefox", "")[number % 5 == 0],
            reason="crawler" if number % 7 == 0 else None,
            visitor=number % 11 if number % 7 else None,
            variant="A" if number % 4 == 0 else None,
        )
        for number in range(100)
    ]
    await ship(database, clicks[:60])
    await ship(database, clicks[60:])
    before = await figures(analytics, organization.id)
    await set_click_days(database, organization.id, 40)
    assert await sum_expired(database, organization.id, NOW) == 100
    assert await figures(analytics, organization.id) == before
    assert await figures(other_host, organization.id) == before
    for host in (analytics, other_host):
        assert await host.ask(organization.id, LatestClicks(organization.id, LinkId("one"))) == []


async def test_a_day_of_many_links_takes_little_memory(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """What a day was added up to becomes rows in memory that grows with their number, not with its square."""
    organization = await make_organization()
    made = [
        click(organization.id, LinkId(f"link-{number}"), DAY + timedelta(minutes=hour), visitor=number)
        for number in range(1_500)
        for hour in (0, 60)
    ]
    await ship(database, made)
    await set_click_days(database, organization.id, 40)
    await sum_expired(database, organization.id, NOW)
    store = ColumnStore(tmp_path, EngineBounds(memory_mb=64))
    written = store.attach(organization.id, NOW).written()
    columns = written.connection
    await load(database, organization.id, written)
    counted = 'SELECT sum(weight), count(DISTINCT link), count(DISTINCT "at") FROM clicks'
    assert columns.execute(counted).fetchall() == [(3_000, 1_500, 2)]
    assert columns.execute("SELECT count(*) FROM day_visitors").fetchall() == [(1_500,)]
    store.close()


async def test_pages_see_days_that_are_added_up_meanwhile(
    analytics: Analytics, database: Database, make_organization: OrganizationFactory
) -> None:
    """A page behind the first one counts the clicks of a day that was added up between them."""
    organization = await make_organization()
    clicks = [click(organization.id, LinkId("one"), DAY, country=country) for country in ("DE", "DE", "FR")]
    await ship(database, clicks)
    await ship(database, [click(organization.id, LinkId("one"), NOW - timedelta(days=1), country="DE")])
    query = Query(
        period=QueryPeriod(DAY, NOW, UTC), measures=(Measure.CLICKS,), group_by=(Field.COUNTRY,), limit=1
    )
    first = await analytics.ask(organization.id, AskQuery(query))
    await set_click_days(database, organization.id, 40)
    await sum_expired(database, organization.id, NOW)
    await ship(database, [click(organization.id, LinkId("one"), NOW - timedelta(days=1), country="FR")])
    second = await analytics.ask(organization.id, AskQuery(replace(query, cursor=first.next_cursor)))
    assert [row.values[Measure.CLICKS] for row in (*first.rows, *second.rows)] == [3, 1]
    assert second.totals == first.totals


async def test_a_late_block_of_a_day_that_was_added_up_counts(
    analytics: Analytics, database: Database, make_organization: OrganizationFactory
) -> None:
    """Clicks that come after their day was added up are in the answers, before and after they are too."""
    organization = await make_organization()
    await set_click_days(database, organization.id, 40)
    made = [click(organization.id, LinkId("one"), DAY, visitor=number) for number in range(4)]
    await ship(database, made[:3])
    await sum_expired(database, organization.id, NOW)
    await ship(database, made[2:], uuid.uuid4().hex)
    for _ in range(2):
        period = QueryPeriod(DAY, DAY + timedelta(days=1), UTC)
        query = Query(period=period, measures=(Measure.CLICKS,), group_by=(Field.DAY,))
        answer = await analytics.ask(organization.id, AskQuery(query))
        assert [row.values[Measure.CLICKS] for row in answer.rows] == [5]
        await sum_expired(database, organization.id, NOW)
