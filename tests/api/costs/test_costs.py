"""Costs over REST, and what analytics makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import LinkId
from backend.storage.costs import costs
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info
from tests.conftest import OrganizationFactory
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion

DAY = "2026-03-01"
HOUR = timedelta(hours=1)


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str = "", body: object = None
) -> httpx.Response:
    """A call about costs with the organization's key."""
    return await client.request(method, f"{API}/costs{path}", json=body, headers=of.headers)


def cost(campaign: str, amount: float, day: str = DAY, currency: str = "EUR") -> dict[str, Any]:
    """A cost as a body has it."""
    return {"campaign": campaign, "day": day, "amount": amount, "currency": currency}


async def test_what_is_told_last_counts(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Of each campaign, day and currency; telling it again changes nothing."""
    told = [cost("spring", 12.5), cost("spring", 3, "2026-03-02"), cost("spring", 7, currency="JPY")]
    answer = await call(client, organization, "PUT", body={"costs": told})
    notes = ["spring: No link and no visit has this campaign."]
    assert answer.json() == {"new": 3, "replaced": 0, "unchanged": 0, "notes": notes}, answer.text
    again = [cost("spring", 12.5), cost("spring", 4, "2026-03-02")]
    answer = await call(client, organization, "PUT", body={"costs": again})
    assert answer.json() == {"new": 0, "replaced": 1, "unchanged": 1, "notes": notes}
    listed = (await call(client, organization, "GET")).json()
    amounts = [(row["day"], row["amount"], row["currency"]) for row in listed["costs"]]
    assert amounts == [("2026-03-02", "4.00", "EUR"), (DAY, "12.50", "EUR"), (DAY, "7", "JPY")]
    assert listed["next_cursor"] is None
    some = await call(client, organization, "GET", "?from=2026-03-01&to=2026-03-02&campaign=spring")
    assert [row["currency"] for row in some.json()["costs"]] == ["EUR", "JPY"]
    behind = await call(client, organization, "GET", f"?cursor={listed['costs'][1]['id']}")
    assert behind.json()["costs"] == listed["costs"][2:]
    first = listed["costs"][0]["id"]
    assert (await call(client, organization, "DELETE", f"/{first}")).status_code == 204
    assert (await call(client, organization, "DELETE", f"/{first}")).status_code == 404
    gone = await call(client, organization, "GET", f"?cursor={first}")
    assert gone.status_code == 400
    assert "cursor must be" in gone.text


async def test_all_or_nothing(
    client: httpx.AsyncClient,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where one cost breaks a rule, or there would be too many, none is stored."""
    organization = await make_organization()
    refused = await call(client, organization, "PUT", body={"costs": [cost("a", 1), cost("b", -1)]})
    assert refused.status_code == 400
    assert "costs[1].amount must be a finite number of 0 or more" in refused.text
    monkeypatch.setattr(costs, "MOST_COSTS", 2)
    many = [cost(campaign, 1) for campaign in "abc"]
    refused = await call(client, organization, "PUT", body={"costs": many})
    assert refused.status_code == 400
    assert "would be one more than the 2 costs" in refused.text
    assert (await call(client, organization, "GET")).json()["costs"] == []


async def query(visitor: Visitor, **asked: Any) -> Any:
    """The answer to a query of the last 28 days."""
    headers = visitor.organization.headers
    answer = await visitor.client.post(f"{API}/analytics/query", json=asked, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


MEASURES = ["cost", "return_on_ad_spend", "cost_per_click", "cost_per_conversion"]


async def test_rows_totals_and_currency_agree(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A campaign counts in a currency if its cost is known in it, in the rows, the totals and by currency."""
    today = f"{datetime.now(UTC).date()}"
    for campaign, clicks, currency, amount in (("a", 4, "EUR", 10), ("b", 2, "USD", 5)):
        url = await create(client, organization, selected_path=campaign, utm_campaign=campaign)
        link = LinkId((await info(client, organization, url))["id"])
        await ship(database, [click(organization.id, link, datetime.now(UTC)) for _ in range(clicks)])
        told = [cost(campaign, amount, today, currency)]
        assert (await call(client, organization, "PUT", body={"costs": told})).status_code == 200
    visitor = Visitor(client, organization)
    await visitor.results(
        check(ago=2 * HOUR, utm_campaign="a"),
        conversion(ago=2 * HOUR, revenue=111),
        conversion(ago=2 * HOUR, revenue=70, currency="USD"),
        check(ago=HOUR, utm_campaign="b"),
        conversion(revenue=30, currency="USD"),
        conversion(revenue=7),
    )
    answer = await query(visitor, measures=MEASURES, group_by=["campaign"])
    rows = {row["campaign"]: [by_currency(row[name]) for name in MEASURES] for row in answer["rows"]}
    in_euros = [{"EUR": value} for value in (10, 11.1, 2.5, 5)]
    in_dollars = [{"USD": value} for value in (5, 6.0, 2.5, 2.5)]
    assert rows == {"a": in_euros, "b": in_dollars}
    totals = [by_currency(answer["totals"][name]) for name in MEASURES]
    assert totals == [of_a | of_b for of_a, of_b in zip(in_euros, in_dollars, strict=True)]
    assert any(note.startswith("Some revenue in EUR, USD is in no return") for note in answer["notes"])
    for currency, expected in (("EUR", [10, 11.1, 2.5, 10]), ("USD", [5, 6.0, 2.5, 5])):
        # Conversions in the other currency are in no figure.
        alone = await query(visitor, measures=MEASURES, group_by=["campaign"], currency=currency)
        assert [float(alone["totals"][name]) for name in MEASURES] == expected
    asked = {"measures": "return_on_ad_spend,cost_per_click", "group_by": "campaign"}
    url, headers = f"{API}/analytics/export", organization.headers
    lines = (await client.get(url, params=asked, headers=headers)).text.splitlines()
    assert lines == [
        "campaign,kind,return_on_ad_spend_EUR,return_on_ad_spend_USD,cost_per_click_EUR,cost_per_click_USD",
        "a,,11.1,,2.500000,",
        "b,,,6.0,,2.500000",
    ]
    for column, first in (("return_on_ad_spend.EUR", "a"), ("-return_on_ad_spend.USD", "b")):
        ordered = await query(visitor, measures=MEASURES, group_by=["campaign"], order_by=column)
        assert ordered["rows"][0]["campaign"] == first


def by_currency(values: list[dict[str, Any]]) -> dict[str, float]:
    """What a list by currency says of each."""
    found = {}
    for value in values:
        (number,) = (number for name, number in value.items() if name != "currency")
        found[value["currency"]] = float(number)
    return found


async def test_return_is_what_came_of_campaigns_with_a_cost(
    client: httpx.AsyncClient, organization: TestOrganization, make_organization: OrganizationFactory
) -> None:
    """By campaign and day and in all, and nothing of what cost nobody knows; elsewhere it is absent."""
    visitor, other = Visitor(client, organization), await make_organization()
    await visitor.results(
        conversion(ago=3 * HOUR, revenue=1000),
        check(ago=2 * HOUR, utm_campaign="free"),
        conversion(ago=2 * HOUR, revenue=500),
        check(ago=HOUR, utm_campaign="spring"),
        conversion(revenue=30),
        conversion(revenue=15),
        conversion(revenue=8, currency="USD"),
    )
    today, day_before = (f"{datetime.now(UTC).date() - timedelta(days=ago)}" for ago in (0, 1))
    told = [cost("spring", 10, today), cost("spring", 10, day_before), cost("lost", 5, today)]
    assert (await call(client, organization, "PUT", body={"costs": told})).status_code == 200
    assert (await call(client, other, "PUT", body={"costs": [cost("spring", 999, today)]})).status_code == 200

    measures = ["cost", "return_on_ad_spend", "cost_per_conversion"]
    answer = await query(visitor, measures=measures, group_by=["campaign"], currency="EUR")
    rows = {row.get("kind", row["campaign"]): [row[name] for name in measures] for row in answer["rows"]}
    assert rows == {
        "spring": ["20.00", 2.25, "10.00"],
        "lost": ["5.00", 0, None],
        "free": [None, None, None],
        "not_credited": [None, None, None],
    }
    assert [answer["totals"][name] for name in measures] == ["25.00", 1.8, "12.50"]
    assert any(note.startswith("Return on ad spend, cost per click") for note in answer["notes"])

    by_source = await query(visitor, measures=measures, group_by=["source"])
    assert {row["cost"] for row in by_source["rows"]} == {None}
    assert by_source["totals"]["cost"] == [{"currency": "EUR", "amount": "25.00"}]
    assert by_source["totals"]["return_on_ad_spend"] == [{"currency": "EUR", "return_on_ad_spend": 1.8}]
    notes = " ".join(by_source["notes"])
    assert "by source they are not known, and in the totals only" in notes
    assert "Some revenue in USD is in no return on ad spend" in notes
    filtered = await query(visitor, measures=measures, filters={"country": ["DE"]})
    assert filtered["totals"]["cost"] is None
    in_dollars = await query(visitor, measures=["cost"], currency="USD")
    assert in_dollars["totals"]["cost"] is None
    assert "Costs in other currencies than USD are in no figure (EUR)." in in_dollars["notes"]

    (deleted,) = (await call(client, organization, "GET", "?campaign=lost")).json()["costs"]
    await call(client, organization, "DELETE", f"/{deleted['id']}")
    assert (await query(visitor, measures=["cost"], currency="EUR"))["totals"]["cost"] == "20.00"
