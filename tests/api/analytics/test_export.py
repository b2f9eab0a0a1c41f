"""GET /analytics/export."""

from __future__ import annotations

import csv
import io
import json

import httpx

from backend.storage.driver.mongo import Database
from tests.api.analytics.queries import ask, export, fill
from tests.facts.organizations import TestOrganization


async def test_an_export_as_csv(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Headings, a column for each currency, what is compared, and nothing like a formula."""
    spring, plain = await fill(client, organization, database)
    answer = await export(
        client, organization, group_by="link", measures="clicks,revenue,revenue_per_click", compare="previous"
    )
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="analytics.csv"'
    assert list(csv.reader(io.StringIO(answer.text))) == [
        ["link", "link_name", "short_url", "kind", "clicks", "revenue_EUR", "revenue_JPY",
         "revenue_per_click_EUR", "revenue_per_click_JPY", "previous_clicks", "previous_revenue_EUR",
         "previous_revenue_JPY", "previous_revenue_per_click_EUR", "previous_revenue_per_click_JPY"],
        [spring, "'=Spring", f"https://{organization.domain}/s", "", "3", "19.99", "500", "6.663333",
         "166.6667", "0", "0", "0", "", ""],
        [plain, "Plain", f"https://{organization.domain}/p", "", "1", "0", "0", "0", "0", "0",
         "0", "0", "", ""],
    ]  # fmt: skip


async def test_an_export_of_conversions_by_currency(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Conversions have a column for each currency behind their number, amounts or not; changes don't."""
    await fill(client, organization, database)
    asked = {"group_by": "campaign", "measures": "conversions", "compare": "previous", "change": "true"}
    answer = await export(client, organization, **asked)
    assert list(csv.reader(io.StringIO(answer.text))) == [
        ["campaign", "kind", "conversions", "conversions_EUR", "conversions_JPY", "previous_conversions",
         "previous_conversions_EUR", "previous_conversions_JPY", "change_conversions"],
        ["spring", "", "2", "1", "1", "0", "0", "0", ""],
    ]  # fmt: skip
    one = await export(client, organization, **asked, currency="JPY")
    assert list(csv.reader(io.StringIO(one.text))) == [
        ["campaign", "kind", "conversions", "previous_conversions", "change_conversions"],
        ["spring", "", "1", "0", ""],
    ]


async def test_an_export_as_lines_of_json(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Each line is a row as the query has it, all rows of all pages; filters are given as JSON."""
    await fill(client, organization, database)
    filters = {"country": ["DE", None]}
    asked = {"group_by": ["day", "campaign"], "filters": filters}
    answer = await export(
        client, organization, group_by="day,campaign", filters=json.dumps(filters), format="ndjson"
    )
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert rows == (await ask(client, organization, **asked)).json()["rows"]
    assert [row["clicks"] for row in rows] == [1, 1, 1, 1]


async def test_a_long_export_comes_whole(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Row after row, although it is written in pieces."""
    answer = await export(
        client, organization, **{"from": "2026-01-01", "to": "2026-04-01", "group_by": "hour"}
    )
    lines = answer.text.split("\r\n")
    assert (lines[0], len(lines)) == ("hour,partial,clicks", 90 * 24 + 2)
    assert lines[-2] == "2026-03-31T23:00+00:00,,0"
