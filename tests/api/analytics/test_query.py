"""POST /analytics/query."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.analytics.queries import QUERY, START, as_parameters, ask, export, fill
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization


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
