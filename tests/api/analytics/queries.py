"""Questions to analytics over REST, and facts that they are about."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
from bson import Decimal128

from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info
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
