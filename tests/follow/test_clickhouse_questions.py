"""The questions of docs/follow.md, asked of ClickHouse's engine and of Waylink."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.events import USUAL_TYPES
from backend.domain.ids import LinkId
from backend.domain.web.short_urls import ShortUrlForm
from backend.follow.clickhouse.target import ClickHouseTarget
from backend.follow.parquet.target import ParquetTarget
from backend.follow.target import FeedTarget, FollowedFeed
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from tests.api.link_calls import API, create, info
from tests.api.told_sales import tell
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion
from tests.follow.chdb_server import ChdbServer

if TYPE_CHECKING:
    from chdb.session import Session

VIEW = "CREATE VIEW events AS SELECT * FROM waylink_events FINAL"
DOCS = (Path(__file__).parents[2] / "docs" / "follow.md").read_text(encoding="utf-8")
HOUR = timedelta(hours=1)
Row = dict[str, Any]


@pytest.fixture
async def links(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> list[str]:
    """Three links of an organization with clicks on three days, sales of two browsers, and refunds."""
    named = [{"utm_campaign": "spring"}, {"utm_campaign": "ads"}, {}]
    urls = [await create(client, organization, **fields) for fields in named]
    ids = [str((await info(client, organization, url))["id"]) for url in urls]
    now = datetime.now(UTC)
    made = [
        click(
            organization.id,
            LinkId(ids[number % 3]),
            now - (number % 5) * 12 * HOUR,
            country=("DE", "FR", None)[number % 4 % 3],
            browser=("Firefox", "Safari")[number % 2],
            reason="bot" if number % 7 == 0 else None,
        )
        for number in range(60)
    ]
    await ship(database, made)
    change = {"utm_campaign": "summer"}
    await client.patch(f"{API}/links/{ids[0]}", json=change, headers=organization.headers)
    await _sell(client, organization, ids)
    return ids


async def _sell(client: httpx.AsyncClient, organization: TestOrganization, ids: list[str]) -> None:
    first, second = Visitor(client, organization), Visitor(client, organization)
    await first.results(
        check(ago=3 * HOUR, cl_link_id=ids[0]),
        conversion(ago=2 * HOUR, transaction_id="t-1", revenue=59.9),
        check(ago=HOUR, cl_link_id=ids[1]),
        conversion(transaction_id="t-2", revenue=100, currency="JPY"),
    )
    await second.results(conversion(transaction_id="t-3", revenue=5))
    again = {"transaction_id": "t-1", "revenue": 59.9, "currency": "EUR", "customer_id": "ada"}
    await tell(client, organization, "conversions", again)
    for order, amount, currency in (("t-1", 9.9, "EUR"), ("t-2", 60, "JPY"), ("t-3", 4, "EUR")):
        refund = {"refund_id": order, "transaction_id": order, "amount": amount, "currency": currency}
        await tell(client, organization, "conversions/refund", refund)
    # Then the server tells another currency, and less than was paid back.
    for order, revenue in (("t-2", 70), ("t-3", 3)):
        corrected = {"transaction_id": order, "revenue": revenue, "currency": "EUR", "customer_id": "bob"}
        await tell(client, organization, "conversions", corrected)


async def follow(database: Database, organization: TestOrganization, target: FeedTarget) -> None:
    """Write the organization's whole feed into the target, as a follower does."""
    await place_all(database, organization.id)
    cursor = await target.open(FollowedFeed(organization.id, USUAL_TYPES, START))
    has_more = True
    while has_more:
        page = await read_feed(database, organization.id, cursor, url_form=ShortUrlForm(), limit=20)
        await target.write(page.events, page.next_cursor)
        cursor, has_more = page.next_cursor, page.has_more
    await target.close()


def documented() -> list[str]:
    """The queries of the section about ClickHouse."""
    section = DOCS.partition("### The same questions, asked of ClickHouse")[2].partition("\n## ")[0]
    return re.findall(r"```sql\n(.*?);\n```", section, re.DOTALL)


def asked(clickhouse: Session, question: str) -> list[Row]:
    """The rows that ClickHouse answers with."""
    text = str(clickhouse.query(question, "JSONEachRow"))
    return [json.loads(line, parse_float=Decimal) for line in text.splitlines()]


async def answered(client: httpx.AsyncClient, organization: TestOrganization, **query: Any) -> list[Row]:
    """The rows that Waylink answers with."""
    answer = await client.post(f"{API}/analytics/query", json=query, headers=organization.headers)
    assert answer.status_code == 200, answer.text
    rows: list[Row] = answer.json()["rows"]
    return rows


@pytest.mark.parametrize("form", ["parquet", "clickhouse"])
async def test_clickhouse_answers_as_waylink(
    form: str,
    chdb_server: ChdbServer,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    links: list[str],
    tmp_path: Path,
) -> None:
    """Clicks by day, campaign and country, and sales by link and currency, are the same numbers.

    Also where a server corrects a sale of which something was paid back.
    """
    is_files = form == "parquet"
    target = ParquetTarget(tmp_path) if is_files else ClickHouseTarget(chdb_server.address)
    await follow(database, organization, target)
    clickhouse = chdb_server.session
    view, by_campaign, by_country, by_link = documented()
    clickhouse.query("USE shop")
    clickhouse.query(view.replace("/srv/events", str(tmp_path)) if is_files else VIEW)

    campaigns = asked(clickhouse, by_campaign)
    expected = await answered(client, organization, group_by=["day", "campaign"])
    assert {(row["day"], row["campaign"], row["clicks"]) for row in campaigns} == {
        (row["day"], row["campaign"], row["clicks"]) for row in expected if row["clicks"]
    }
    assert {row["campaign"] for row in campaigns} == {"summer", "ads", None}

    for field in ("country", "browser", "platform"):
        sums: dict[str | None, int] = {}
        for row in asked(clickhouse, by_country):
            sums[row[field]] = sums.get(row[field], 0) + row["clicks"]
        expected = await answered(client, organization, group_by=[field])
        assert sums == {row[field]: row["clicks"] for row in expected}

    sales = asked(clickhouse, by_link)
    expected = await answered(
        client, organization, group_by=["link"], measures=["conversions", "revenue", "refunds"]
    )
    assert {(row["link"], row["conversions"]) for row in sales} == {
        (row["link"], row["conversions"]) for row in expected
    }
    for measure in ("revenue", "refunds"):
        assert {(row["link"], row["currency"], Decimal(row[measure])) for row in sales if row[measure]} == {
            (row["link"], amount["currency"], Decimal(amount["amount"]))
            for row in expected
            for amount in row[measure]
        }
    assert {row["link"] for row in sales} == {links[0], links[1], None}
    assert VIEW in DOCS
