"""Properties of events: marking them by REST, and asking by them."""

from __future__ import annotations

from typing import Any

import httpx

from backend.domain.analytics.event_properties import MOST_MARKED
from backend.storage.driver.mongo import Database
from tests.api.analytics.queries import ask, export
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

MARKED = f"{API}/event-properties"


async def mark(client: httpx.AsyncClient, organization: TestOrganization, *names: str) -> httpx.Response:
    """Mark these properties, and no others."""
    return await client.patch(MARKED, json={"marked": names}, headers=organization.headers)


async def tell(client: httpx.AsyncClient, organization: TestOrganization, *metadata: dict[str, Any]) -> None:
    """A server tells of an event of each of these."""
    items = [
        {"name": "upgraded", "customer_id": f"c{number}", "occurred_at": "2026-03-02T12:00:00Z",
         "metadata": properties}
        for number, properties in enumerate(metadata)
    ]  # fmt: skip
    answer = await client.post(f"{API}/events", json={"items": items}, headers=organization.headers)
    assert [result["status"] for result in answer.json()["results"]] == ["accepted"] * len(items)


async def test_events_are_counted_by_what_is_marked(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """Also events that were told before, in an answer and in a file; what is not marked is refused."""
    organization, other = await make_organization(), await make_organization()
    await tell(
        client, organization, {"plan": "pro", "seats": 5}, {"plan": "pro", "seats": 5.5}, {}, {"plan": True}
    )
    query: dict[str, Any] = {
        "measures": ["events", "leads"], "group_by": ["event", "event.plan"], "order_by": "event.plan",
    }  # fmt: skip
    refused = await ask(client, organization, **query)
    assert refused.status_code == 400
    [error] = refused.json()["errors"]
    assert error["fieldName"] == "group_by"
    assert "event.plan: the organization has not marked this property" in error["errorMessage"]
    assert (await client.get(MARKED, headers=organization.headers)).json() == {"marked": []}

    assert (await mark(client, organization, "plan", "seats")).json() == {"marked": ["plan", "seats"]}
    rows = (await ask(client, organization, **query)).json()["rows"]
    assert [(row["event.plan"], row["events"], row["leads"]) for row in rows] == [
        ("pro", 2, 0), ("true", 1, 0), (None, 1, 0),
    ]  # fmt: skip
    filters = {"event.seats": ["5.5"]}
    totals = (await ask(client, organization, measures=["events"], filters=filters)).json()["totals"]
    assert totals == {"events": 1}
    text = (
        await export(client, organization, measures="events", group_by="event.plan", order_by="-events")
    ).text
    assert text == "event.plan,kind,events\r\npro,,2\r\ntrue,,1\r\n,,1\r\n"
    assert (await ask(client, other, **query)).status_code == 400


async def test_a_list_of_properties_is_checked(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """The error names the place of a wrong name; the list stays as it was."""
    organization = await make_organization()
    await mark(client, organization, "plan")
    wrong = await mark(client, organization, "size", "$set")
    assert wrong.status_code == 400
    assert wrong.json()["errors"][0]["fieldName"] == "marked[1]"
    many = await mark(client, organization, *map(str, range(MOST_MARKED + 1)))
    assert f"must have at most {MOST_MARKED} properties" in many.text
    unchanged = await client.patch(MARKED, json={}, headers=organization.headers)
    assert unchanged.json() == {"marked": ["plan"]}


async def test_an_empty_text_is_no_value(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """An event with an empty property is in the row of those without any value, and null finds it."""
    await mark(client, organization, "plan")
    await tell(client, organization, {"plan": ""}, {"plan": None}, {}, {"plan": "pro"})
    query: dict[str, Any] = {"measures": ["events"], "group_by": ["event.plan"]}
    rows = (await ask(client, organization, **query)).json()["rows"]
    assert {row["event.plan"]: row["events"] for row in rows} == {None: 3, "pro": 1}
    for chosen, count in (([None], 3), ({"not": [None]}, 1), ([""], 0)):
        filters = {"event.plan": chosen}
        answer = await ask(client, organization, measures=["events"], filters=filters)
        assert answer.json()["totals"] == {"events": count}
