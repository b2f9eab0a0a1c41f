"""Analytics by variant: what a split's parts brought, and which of them is better."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from backend.storage.driver.mongo import Database
from tests.api.link_calls import API
from tests.api.whole_links import Links
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion

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
    report: dict[str, Any] = answer.json()
    return report


async def test_what_each_variant_brought(
    links: Links, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Clicks and sales of a variant stand in its row, by link and by day in a time zone too; what has no
    variant, or one that nobody made, is in no row and in no total."""
    made = await links.make(rules=SPLIT)
    now = datetime.now(UTC)
    clicks = [("long", 30), ("short.2", 40), (None, 7)]
    await ship(
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

    report = await asked(links)
    rows = {row.pop("variant"): row for row in report["rows"]}
    assert rows == {
        "short.2": {"clicks": 40, "conversions": 2, "revenue": "30.00", "conversion_rate": 0.05,
                    "chance_of_best": rows["short.2"]["chance_of_best"]},
        "long": {"clicks": 30, "conversions": 1, "revenue": "5.00", "conversion_rate": 0.033333,
                 "chance_of_best": rows["long"]["chance_of_best"]},
    }  # fmt: skip
    assert 0.5 < rows["short.2"]["chance_of_best"] < 0.8
    assert (report["totals"]["clicks"], report["totals"]["revenue"]) == (70, "35.00")
    assert "What has no variant, since no rule split its visitors, is in no figure." in report["notes"]

    by_link = await asked(links, group_by=["link", "variant"], filters={"variant": ["long"]})
    assert [(row["link"], row["variant"], row["clicks"]) for row in by_link["rows"]] == [
        (made["id"], "long", 30)
    ]
    assert by_link["rows"][0]["revenue"] == "5.00"
    # With a history of touches, and where days are read from blocks.
    others = await asked(links, model="linear", timezone="Asia/Kathmandu", group_by=["day", "variant"])
    assert {row["variant"]: row["clicks"] for row in others["rows"]} == {"long": 30, "short.2": 40}
    assert {row["variant"]: row["revenue"] for row in others["rows"]} == {"long": "5.00", "short.2": "30.00"}
