"""GET /analytics/export."""

from __future__ import annotations

import csv
import io
import json

import httpx
import pytest

from backend.domain.analytics.measures import Measure
from backend.storage.driver.mongo import Database
from tests.api.analytics.queries import ask, export, fill
from tests.facts.organizations import TestOrganization
from tests.facts.parquet_rows import as_parquet, read


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


@pytest.mark.parametrize("measure", [measure for measure in Measure if measure.is_money])
@pytest.mark.parametrize(
    ("query", "others", "rows"),
    [
        ({}, [], [[""]]),
        ({"compare": "year", "change": "true"}, [], [["", "", ""]]),
        ({"group_by": "country"}, ["country"], []),
    ],
    ids=["totals", "compared", "rows"],
)
async def test_amounts_of_nothing(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    measure: str,
    query: dict[str, str],
    others: list[str],
    rows: list[list[str]],
) -> None:
    """What is in no currency has one column, of the measure's name and without a value, in every file."""
    asked: dict[str, str] = {"measures": measure, **query}
    told = await export(client, organization, **asked)
    names = [f"{prefix}{measure}" for prefix in ("", "previous_", "change_")[: len(rows[0]) if rows else 1]]
    assert list(csv.reader(io.StringIO(told.text))) == [[*others, *names], *rows]
    file = await export(client, organization, format="parquet", **asked)
    assert file.status_code == 200, file.text
    table = read(file.content)
    assert list(table.types) == [*others, *names]
    assert table.rows == as_parquet(told.text, table.types)


async def test_a_rate_of_nothing(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A line of one empty cell is not an empty line, which readers of CSV leave out."""
    answer = await export(client, organization, measures="conversion_rate")
    assert answer.text == 'conversion_rate\r\n""\r\n'
