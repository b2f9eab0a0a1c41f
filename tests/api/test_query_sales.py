"""From the SDK's calls to queries of analytics: which link, campaign and customer a sale counts for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.storage.mongo import Database
from backend.storage.organizations import set_retention_days
from tests.api.links import API, create, info
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
Rows = dict[str | None, dict[str, Any]]


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


async def rows(visitor: Visitor, field: str, *measures: str, **query: Any) -> Rows:
    """The rows of the last 28 days by their value of this field."""
    body = {"group_by": [field], "measures": measures} | query
    headers = visitor.organization.headers
    answer = await visitor.client.post(f"{API}/analytics/query", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return {row.pop(field): row for row in answer.json()["rows"]}


async def make_link(visitor: Visitor, **fields: Any) -> str:
    """A new link's id."""
    short_url = await create(visitor.client, visitor.organization, **fields)
    return str((await info(visitor.client, visitor.organization, short_url))["id"])


async def test_first_and_last_touch(visitor: Visitor) -> None:
    """The same sale is the first or the last touch's, as asked; one before all touches is nobody's."""
    await visitor.results(
        conversion(ago=3 * HOUR, revenue=1),
        check(ago=2 * HOUR, utm_source="news"),
        check(ago=HOUR, utm_source="ads"),
        conversion(revenue=19.99),
        call("lead"),
    )
    organic = {"leads": 0, "conversions": 1, "revenue": "1.00"}
    bought = {"leads": 1, "conversions": 1, "revenue": "19.99"}
    asked = ("source", "leads", "conversions", "revenue")
    assert await rows(visitor, *asked, currency="EUR") == {None: organic, "ads": bought}
    assert await rows(visitor, *asked, currency="EUR", model="first") == {None: organic, "news": bought}


async def test_a_campaign_is_the_link_s_as_it_is_now(visitor: Visitor) -> None:
    """Changing it moves the link's past; what no link led to counts for what its address said."""
    link_id = await make_link(visitor, utm_campaign="spring")
    await visitor.results(check(ago=2 * HOUR, cl_link_id=link_id), conversion(ago=HOUR))
    await visitor.results(check(utm_campaign="ad"), conversion())
    assert list(await rows(visitor, "campaign", "conversions")) == ["ad", "spring"]
    change = {"utm_campaign": "summer"}
    url = f"{API}/links/{link_id}"
    await visitor.client.patch(url, json=change, headers=visitor.organization.headers)
    assert list(await rows(visitor, "campaign", "conversions")) == ["ad", "summer"]
    filters = {"campaign": ["summer"]}
    assert list(await rows(visitor, "link", "conversions", filters=filters)) == [link_id]


async def test_a_customer_counts_once(visitor: Visitor) -> None:
    """On two devices, in totals over rows, and for what a device did before it was identified."""
    other = Visitor(visitor.client, visitor.organization)
    await visitor.results(check(ago=HOUR, utm_source="a"), conversion())
    assert (await rows(visitor, "source", "customers"))["a"] == {"customers": 0}
    await visitor.results(call("identify", customer_id="ada"))
    await other.results(check(ago=HOUR, utm_source="b"), call("lead", customer_id="ada"))
    assert await rows(visitor, "source", "customers") == {"a": {"customers": 1}, "b": {"customers": 1}}
    body = {"group_by": ["source"], "measures": ["customers"]}
    headers = visitor.organization.headers
    answer = (await visitor.client.post(f"{API}/analytics/query", json=body, headers=headers)).json()
    assert answer["totals"] == {"customers": 1}
    assert any("once in the totals" in note for note in answer["notes"])


async def test_what_retention_deleted_is_told(visitor: Visitor, database: Database) -> None:
    """A note says how long leads and conversions are kept, only where they were asked for."""
    await set_retention_days(database, visitor.organization.id, 30)
    url, headers = f"{API}/analytics/query", visitor.organization.headers
    asked = await visitor.client.post(url, json={"measures": ["leads"]}, headers=headers)
    assert any("deleted after 30 days" in note for note in asked.json()["notes"])
    assert (await visitor.client.post(url, json={}, headers=headers)).json()["notes"] == []
