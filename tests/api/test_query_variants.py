"""Analytics by variant: what a split's parts brought, and which of them is better."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from backend.domain.analytics_answer import Counted
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.errors import InvalidField
from backend.domain.query_period import QueryPeriod
from backend.storage.mongo import Database
from backend.storage.variant_chances import add_chances
from tests.api.links import API
from tests.api.whole_links import Links
from tests.clicks import click, count_clicks
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, check, conversion

SPLIT = [
    {"if": {"country": ["XK"]}, "then": {"destination_url": "https://shop.example/xk"}},
    {
        "if": {},
        "then": {
            "split": [
                {"name": name, "weight": 1, "destination_url": f"https://shop.example/{name}"}
                for name in ("long", "short.2")
            ]
        },
    },
]
MEASURES = ["clicks", "conversions", "revenue", "conversion_rate", "chance_of_best"]


async def asked(links: Links, **query: Any) -> dict[str, Any]:
    """The answer to a query by variant, in euros."""
    body = {"group_by": ["variant"], "measures": MEASURES, "currency": "EUR"} | query
    headers = links.organization.headers
    answer = await links.client.post(f"{API}/analytics/query", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_what_each_variant_brought(
    links: Links, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Clicks and sales of a variant stand in its row, by link and by day in a time zone too; what has no
    variant, or one that nobody made, is in no row and in no total."""
    made = await links.make(rules=SPLIT)
    now = datetime.now(UTC)
    clicks = [("long", 30), ("short.2", 40), (None, 7)]
    await count_clicks(
        database,
        [
            click(organization.id, made["id"], now, variant=variant)
            for variant, count in clicks
            for _ in range(count)
        ],
    )
    for variant, revenue in (("long", 5), ("short.2", 20), ("short.2", 10), ("other", 1), ("", 1)):
        visitor = Visitor(client, organization)
        signals = {"cl_link_id": made["id"]} | ({"cl_variant": variant} if variant else {})
        await visitor.results(check(**signals), conversion(revenue=revenue))

    found = await asked(links)
    rows = {row.pop("variant"): row for row in found["rows"]}
    assert rows == {
        "short.2": {"clicks": 40, "conversions": 2, "revenue": "30.00", "conversion_rate": 0.05,
                    "chance_of_best": rows["short.2"]["chance_of_best"]},
        "long": {"clicks": 30, "conversions": 1, "revenue": "5.00", "conversion_rate": 0.033333,
                 "chance_of_best": rows["long"]["chance_of_best"]},
    }  # fmt: skip
    assert 0.5 < rows["short.2"]["chance_of_best"] < 0.8
    assert (found["totals"]["clicks"], found["totals"]["revenue"]) == (70, "35.00")
    assert "What has no variant, since no rule split its visitors, is in no figure." in found["notes"]

    by_link = await asked(links, group_by=["link", "variant"], filters={"variant": ["long"]})
    assert [(row["link"], row["variant"], row["clicks"]) for row in by_link["rows"]] == [
        (made["id"], "long", 30)
    ]
    assert by_link["rows"][0]["revenue"] == "5.00"
    # With a history of touches, and where days are read from blocks.
    others = await asked(links, model="linear", timezone="Asia/Kathmandu", group_by=["day", "variant"])
    assert {row["variant"]: row["clicks"] for row in others["rows"]} == {"long": 30, "short.2": 40}
    assert {row["variant"]: row["revenue"] for row in others["rows"]} == {"long": "5.00", "short.2": "30.00"}


def chances(*counts: tuple[int, int]) -> list[float | None]:
    """The chances of variants with these clicks and conversions."""
    counted = Counted()
    for number, (clicks, conversions) in enumerate(counts):
        row = counted.row((str(number),))
        row.clicks, row.conversions = clicks, conversions
    period = QueryPeriod(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), ZoneInfo("UTC"))
    add_chances(Query(period=period, measures=(Measure.CHANCE_OF_BEST,), group_by=(Field.VARIANT,)), counted)
    return [each.chance_of_best for each in counted.rows.values()]


def test_the_chance_of_the_better_one() -> None:
    """Near certainty for a clear difference, a half for none, and nothing where there is nothing to compare.
    100 of 1,000 against 130 of 1,000 is 98 % by the usual calculators."""
    clear, none = chances((1_000, 50), (1_000, 150)), chances((500, 25), (500, 25))
    assert clear == [0.0, 1.0]
    assert none[0] is not None
    assert abs(none[0] - 0.5) < 0.01
    better = chances((1_000, 100), (1_000, 130))[1]
    assert better is not None
    assert abs(better - 0.982) < 0.005
    assert chances((10, 1)) == [None]
    assert chances((0, 0), (0, 0)) == [None, None]
    three = chances((10, 20), (900, 100), (0, 0))
    assert abs(sum(each or 0 for each in three) - 1) < 0.01


def test_a_thousand_variants_take_little_memory() -> None:
    """What was drawn of each is not kept; and there is a limit, which names the measure."""
    tracemalloc.start()
    try:
        found = chances(*[(100, number % 7) for number in range(1_000)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert abs(sum(each or 0 for each in found) - 1) < 0.5  # each is rounded
    assert peak < 20_000_000
    with pytest.raises(InvalidField, match="at most 10,000 rows"):
        chances(*[(1, 0)] * 10_001)
