"""POST /analytics/query and GET /analytics/export."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from bson import Decimal128

from backend.domain.ids import LinkId
from backend.rest_api.analytics.query import MOST_BYTES
from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization

QUERY, EXPORT = f"{API}/analytics/query", f"{API}/analytics/export"
START = datetime(2026, 3, 1, tzinfo=UTC)
MARCH = {"from": "2026-03-01", "to": "2026-03-08"}


async def ask(client: httpx.AsyncClient, organization: TestOrganization, **query: Any) -> httpx.Response:
    """The answer for the first week of March 2026, or for what `query` says."""
    return await client.post(QUERY, json=MARCH | query, headers=organization.headers)


async def export(client: httpx.AsyncClient, organization: TestOrganization, **query: str) -> httpx.Response:
    """The same as a file."""
    return await client.get(EXPORT, params=MARCH | query, headers=organization.headers)


def as_parameters(query: dict[str, Any]) -> dict[str, str]:
    """The query as parameters of an address."""
    texts = {
        name: ",".join(value) if name in {"measures", "group_by"} else json.dumps(value)
        for name, value in query.items()
        if not isinstance(value, str)
    }
    return query | texts


async def fill(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> list[str]:
    """Two links with clicks, one of them of a campaign and with two conversions. Returns their ids."""
    urls = [
        await create(client, organization, link_name="=Spring", utm_campaign="spring", selected_path="s"),
        await create(client, organization, link_name="Plain", selected_path="p"),
    ]
    ids = [LinkId((await info(client, organization, url))["id"]) for url in urls]
    facts = {"country": "DE", "visitor": 7}
    days = [START + timedelta(days=day, hours=12) for day in range(3)]
    clicks = [click(organization.id, ids[0], at, **facts) for at in days]
    clicks.append(click(organization.id, ids[1], days[0], country=None, visitor=8))
    await ship(database, clicks)
    touch = {"link_id": ids[0], "utm": {}, "at": START, "click_ids": {}}
    for number, (currency, revenue) in enumerate([("EUR", "19.99"), ("JPY", "500")]):
        await database["conversions"].insert_one(
            {
                "_id": f"{organization.id}/{number}", "org_id": organization.id, "at": days[0],
                "touch": touch, "first_touch": None, "customer_id": "ada", "device_id": "d",
                "currency": currency, "revenue": Decimal128(Decimal(revenue)),
            }
        )  # fmt: skip
    return [str(id_) for id_ in ids]


async def test_an_answer_byte_for_byte(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Rows, totals, cursor and notes under their names and in their order, amounts as decimal texts."""
    spring, _ = await fill(client, organization, database)
    answer = await ask(
        client, organization, group_by=["link"],
        measures=["clicks", "conversions", "revenue", "conversion_rate"],
        filters={"campaign": ["spring"]}, compare="previous",
    )  # fmt: skip
    now = (
        '"clicks":3,"conversions":2,"conversions_by_currency":[{"currency":"EUR","conversions":1},'
        '{"currency":"JPY","conversions":1}],"revenue":[{"currency":"EUR","amount":"19.99"},'
        '{"currency":"JPY","amount":"500"}],"conversion_rate":0.666667'
    )
    before = (
        '"previous":{"clicks":0,"conversions":0,"conversions_by_currency":[],"revenue":[],'
        '"conversion_rate":null}'
    )
    note = "Clicks have the campaign that their link has now, also where it had another one then."
    credit = (
        "Leads, conversions and revenue are credited to the last non-direct touch of the "
        "same device, however long before."
    )
    assert answer.text == (
        f'{{"rows":[{{"link":"{spring}","link_name":"=Spring",'
        f'"short_url":"https://{organization.domain}/s",{now},{before}}}],'
        f'"totals":{{{now},{before}}},"next_cursor":null,'
        f'"notes":["{note}","{credit}","Compared with the 7 days before."],'
        '"period":{"from":"2026-03-01T00:00:00+00:00","to":"2026-03-08T00:00:00+00:00","timezone":"UTC"},'
        '"previous_period":{"from":"2026-02-22T00:00:00+00:00","to":"2026-03-01T00:00:00+00:00",'
        '"timezone":"UTC"}}\n'
    )
    assert answer.headers["Content-Type"] == "application/json"
    assert int(answer.headers["RateLimit-Remaining"]) > 0


async def test_one_currency(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """With a currency, an amount is one text, and rows can be sorted by it."""
    await fill(client, organization, database)
    measures = ["revenue", "revenue_per_click"]
    asked: dict[str, Any] = {"currency": "eur", "group_by": ["campaign"], "measures": measures}
    asked["order_by"] = "-revenue"
    report = (await ask(client, organization, **asked)).json()
    assert report["rows"] == [
        {"campaign": "spring", "revenue": "19.99", "revenue_per_click": "6.663333"},
        {"campaign": None, "revenue": "0.00", "revenue_per_click": "0.000000"},
    ]
    asked |= {"currency": None, "order_by": "-difference.revenue.EUR.USD", "compare": "previous"}
    report = (await ask(client, organization, **asked)).json()
    assert [row["campaign"] for row in report["rows"]] == ["spring", None]
    assert [amount["currency"] for amount in report["rows"][0]["revenue"]] == ["EUR", "JPY"]


async def test_days_of_a_time_zone(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A date begins in the zone that was asked for, and each of its days has a row."""
    await fill(client, organization, database)
    report = (await ask(client, organization, timezone="Pacific/Auckland", group_by=["day"])).json()
    clicks = {row["day"]: row["clicks"] for row in report["rows"]}
    assert clicks == {f"2026-03-0{day}": {2: 2, 3: 1, 4: 1}.get(day, 0) for day in range(1, 8)}
    assert report["period"]["from"] == "2026-03-01T00:00:00+13:00"


async def test_by_default_the_last_28_days(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """Those of the time zone, with all of today."""
    clock.offset = datetime(2026, 3, 31, 23, tzinfo=UTC) - utc_now()
    answer = await client.post(QUERY, json={"timezone": "Europe/Berlin"}, headers=organization.headers)
    # There it is the first of April already, and clocks were changed in between.
    assert answer.json()["period"] == {
        "from": "2026-03-05T00:00:00+01:00", "to": "2026-04-02T00:00:00+02:00", "timezone": "Europe/Berlin",
    }  # fmt: skip
    assert answer.json()["rows"] == [{"clicks": 0}]


async def test_four_fields_filters_and_changes(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Values that begin so, or are not those; how much rows changed, in the order of that; as a file too."""
    spring, _ = await fill(client, organization, database)
    before = click(organization.id, LinkId(spring), START - timedelta(days=5), country="DE", visitor=1)
    await ship(database, [before, before])
    asked: dict[str, Any] = {
        "group_by": ["week", "country", "platform", "campaign"],
        "week_starts": "sunday",
        "filters": {"campaign": {"prefix": "spr"}, "country": {"not": ["FR", None]}},
        "compare": "previous",
        "change": True,
        "order_by": "-change.clicks",
    }
    report = (await ask(client, organization, **asked)).json()
    row = {"week": "2026-03-01", "country": "DE", "platform": "desktop", "campaign": "spring", "clicks": 3}
    assert report["rows"] == [row | {"previous": {"clicks": 2}, "change": {"clicks": 0.5}}]
    assert report["totals"] == {"clicks": 3, "previous": {"clicks": 2}, "change": {"clicks": 0.5}}
    file = await export(client, organization, **as_parameters(asked))
    assert file.text.split() == [
        "week,country,platform,campaign,partial,clicks,previous_clicks,change_clicks",
        "2026-03-01,DE,desktop,spring,,3,2,0.5",
    ]


async def test_pages(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> None:
    """A cursor leads through all rows, and is refused with another query."""
    await fill(client, organization, database)
    seen: list[str] = []
    cursor = None
    while True:
        report = (await ask(client, organization, group_by=["day"], limit=3, cursor=cursor)).json()
        seen += [row["day"] for row in report["rows"]]
        if report["next_cursor"] is None:
            break
        cursor = report["next_cursor"]
    assert seen == [f"2026-03-0{day}" for day in range(1, 8)]
    answer = await ask(client, organization, group_by=["month"], cursor=cursor)
    assert answer.json()["error"]["errorMessage"].startswith("cursor belongs to another query")


REFUSED = [
    ({"measures": ["clickz"]}, "measures", "must be one of clicks, visitors"),
    ({"measures": []}, "measures", "must have from 1 to 21 entries"),
    ({"measures": "clicks"}, "measures", "must be a list"),
    ({"measures": ["clicks", "clicks"]}, "measures", "must not have one twice"),
    ({"measures": ["sales"]}, "measures", "must be one of"),
    ({"group_by": ["mood"]}, "group_by", "must be one of day, week"),
    (
        {"group_by": ["day", "link", "country", "system", "event"]},
        "group_by",
        "must have from 0 to 4 entries",
    ),
    ({"group_by": ["day", "week"]}, "group_by", "must have at most one of day, week, month, hour"),
    (
        {"group_by": ["link"], "measures": ["chance_of_best"]},
        "measures",
        "can't have chance_of_best without variant in group_by",
    ),
    ({"change": True}, "change", "needs compare"),
    ({"change": "yes", "compare": "year"}, "change", "must be true or false"),
    ({"order_by": "-change.clicks", "compare": "year"}, "order_by", "can't be change.clicks without change"),
    ({"order_by": "difference.clicks"}, "order_by", "can't be difference.clicks without compare"),
    ({"order_by": "clicks.EUR"}, "order_by", "can't have a currency behind clicks"),
    (
        {"order_by": "revenue.ZZZ", "measures": ["revenue"]},
        "order_by",
        "must be an ISO 4217 currency code",
    ),
    (
        {"order_by": "change.visitors", "compare": "year", "change": True},
        "order_by",
        "must be one of clicks",
    ),
    ({"order_by": "change.day", "group_by": ["day"]}, "order_by", "must be one of measures and group_by"),
    ({"week_starts": "friday"}, "week_starts", "must be one of monday, sunday"),
    ({"timezone": "Mars/Olympus"}, "timezone", "must be the IANA name"),
    ({"timezone": "../../etc/passwd"}, "timezone", "must be the IANA name"),
    ({"timezone": "Europe"}, "timezone", "must be the IANA name"),
    ({"timezone": None}, "timezone", "must be a string"),
    ({"from": "2026-03-09"}, "to", "must be after from"),
    ({"from": "2026-03-08"}, "to", "must be after from"),
    ({"from": "1026-03-01"}, "from", "must be between 2012-01-01 and 2200-01-01"),
    ({"to": "3026-03-01"}, "to", "must be between"),
    ({"from": "0001-01-01", "timezone": "Asia/Kathmandu"}, "from", "must be"),
    ({"to": "9999-12-31", "timezone": "America/New_York"}, "to", "must be"),
    ({"from": "2013-03-01"}, "from", "must be at most 3,660 days before to"),
    ({"from": "2025-03-01", "group_by": ["hour"]}, "group_by", "with hour needs a period of at most"),
    ({"from": "2026-03-01T12:00:01Z"}, "from", "must be at a quarter of an hour"),
    ({"from": "2026-03-01T12:00:00"}, "from", "must be a date, or an ISO 8601 time with a zone"),
    ({"from": 20260301}, "from", "must be a date"),
    ({"filters": {"mood": ["x"]}}, "filters.mood", "can't be filtered by; possible are link, domain"),
    ({"filters": {"day": ["2026-03-01"]}}, "filters.day", "can't be filtered by"),
    ({"filters": {"campaign": []}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"not": []}}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"not": "x"}}}, "filters.campaign", "must be a list of 1 to 200"),
    ({"filters": {"campaign": {"prefix": ""}}}, "filters.campaign", "must have from 1 to 1024 characters"),
    (
        {"filters": {"campaign": {"prefix": "x", "not": ["y"]}}},
        "filters.campaign",
        "must be a list of 1 to 200 texts or null, or an object with not or prefix",
    ),
    ({"filters": {"campaign": [{"$ne": None}]}}, "filters.campaign", "must be a string"),
    ({"filters": {"link": ["x"]}}, "filters.link", "must be a UUID"),
    ({"filters": []}, "filters", "must be an object of lists"),
    ({"compare": "week"}, "compare", "must be one of previous, year"),
    ({"currency": "XYZ"}, "currency", "must be an ISO 4217 currency code"),
    ({"credit": "visitor"}, "credit", "must be one of device, customer"),
    ({"model": "middle"}, "model", "must be one of last_non_direct, last, first, linear, position_based"),
    ({"lookback_days": 0}, "lookback_days", "must be a whole number from 1 to 3660"),
    ({"as_of": "yesterday"}, "as_of", "must be"),
    ({"as_of": "9999-12-31"}, "as_of", "must be a date that can be reckoned with"),
    ({"order_by": "-revenue"}, "order_by", "must be one of clicks"),
    ({"order_by": "-revenue", "measures": ["revenue"]}, "order_by", "can't be revenue without currency"),
    ({"order_by": "nonsense"}, "order_by", "must be one of measures and group_by"),
    ({"limit": 0}, "limit", "must be a whole number from 1 to 10000"),
    ({"limit": True}, "limit", "must be a whole number"),
    ({"cursor": "x"}, "cursor", "is not one that was answered here"),
    ({"nonsense": 1}, "nonsense", "is not a field of this request"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "field", "rule"), REFUSED)
async def test_what_cannot_be_asked(
    client: httpx.AsyncClient, organization: TestOrganization, query: dict[str, Any], field: str, rule: str
) -> None:
    """The decided 400, which names the field and what is possible; the export says the same."""
    answer = await ask(client, organization, **query)
    assert answer.status_code == 400
    error = answer.json()
    assert (error["code"], error["error"]["fieldName"]) == (101, field)
    assert error["error"]["errorMessage"].startswith(f"{field} {rule}"), error


@pytest.mark.parametrize(("query", "field", "rule"), REFUSED)
async def test_what_cannot_be_exported(
    client: httpx.AsyncClient, organization: TestOrganization, query: dict[str, Any], field: str, rule: str
) -> None:
    """The same is refused as parameters, by the error shape of query strings."""
    if query == {"measures": "clicks"}:
        return  # the very way to say it here
    answer = await export(client, organization, **as_parameters(query))
    error = answer.json()
    assert (answer.status_code, error["code"], error["error"]["fieldName"]) == (400, 400, field), error


@pytest.mark.parametrize("to", ["0001-01-29", "9999-12-31T23:45:00Z"])
async def test_an_end_before_which_there_are_no_days(
    client: httpx.AsyncClient, organization: TestOrganization, to: str
) -> None:
    """Without `from`, an end at the edge of all dates is refused like any other that is too far off."""
    query = {"to": to, "timezone": "Asia/Tokyo"}
    answer = await client.post(QUERY, json=query, headers=organization.headers)
    assert (answer.status_code, answer.json()["code"]) == (400, 101)
    answer = await client.get(EXPORT, params=query, headers=organization.headers)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "to")


async def test_a_body_that_is_too_large(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Filters may name many links, and there is an end to it."""
    body = b" " * (MOST_BYTES + 1)
    answer = await client.post(QUERY, content=body, headers=organization.headers)
    assert (answer.status_code, answer.json()["code"]) == (413, 413)


async def test_a_query_string_is_refused(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A query stands in the body: what is in the address would be left out without a word."""
    answer = await client.post(f"{QUERY}?limit=1", json={}, headers=organization.headers)
    assert answer.json()["error"] == {
        "errorMessage": "limit is not a parameter of this request", "fieldName": "limit",
    }  # fmt: skip


async def test_installs_need_a_subscription(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """As for install-analytics: 403 without one, in both operations."""
    for answer in (
        await ask(client, organization, measures=["installs"]),
        await export(client, organization, measures="installs"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, 115)
    await set_subscription(database, organization.id, utc_now() + timedelta(days=1))
    assert (await ask(client, organization, measures=["installs"])).json()["totals"] == {"installs": 0}


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


async def test_nothing_of_another_organization_is_told(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """Not by any field, nor by a filter for its link, domain or campaign."""
    one, other = await make_organization(), await make_organization()
    ids = await fill(client, other, database)
    for field in ("link", "domain", "campaign", "country", "day"):
        for filters in ({}, {"link": ids}, {"domain": [other.domain]}, {"campaign": ["spring"]}):
            answer = await ask(client, one, group_by=[field], filters=filters)
            report = answer.json()
            assert report["totals"] == {"clicks": 0}
            assert [row for row in report["rows"] if row["clicks"]] == []
            assert "spring" not in json.dumps(report["rows"])
