"""POST /analytics/funnel: from the SDK's calls to how far visitors got."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
STEPS = [{"kind": "click"}, {"kind": "event", "name": "added_to_cart"}, {"kind": "conversion"}]


async def ask(client: httpx.AsyncClient, of: TestOrganization, **body: Any) -> httpx.Response:
    """The answer to a funnel."""
    return await client.post(f"{API}/analytics/funnel", json={"steps": STEPS} | body, headers=of.headers)


def figures(step: dict[str, Any]) -> tuple[Any, ...]:
    """The figures of a step, its times rounded to minutes."""
    seconds = step["median_seconds"]
    minutes = None if seconds is None else round(seconds / 60)
    return step["count"], step["of_first"], step["of_previous"], step["stopped"], minutes


async def test_how_far_visitors_got(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """One bought after two hours, one filled a cart, one only clicked; other clicks are told."""
    url = await create(client, organization, utm_campaign="spring")
    link_id = (await info(client, organization, url))["id"]
    buyer, chooser, looker = (Visitor(client, organization) for _ in range(3))
    visit = {"cl_link_id": link_id}
    await buyer.results(
        check(ago=3 * HOUR, **visit), call("event", name="added_to_cart", ago=2 * HOUR), conversion(ago=HOUR)
    )
    await chooser.results(check(ago=3 * HOUR, **visit), call("event", name="added_to_cart", ago=HOUR))
    await looker.results(check(ago=3 * HOUR, **visit))
    stored = await database["devices"].find_one({"org_id": organization.id})
    assert stored
    await ship(database, [click(organization.id, link_id, stored["first_seen_at"]) for _ in range(5)])
    answer = (await ask(client, organization, group_by=["campaign"])).json()
    steps = [(3, 1.0, None, 1, None), (2, 0.666667, 0.666667, 1, 60), (1, 0.333333, 0.5, 0, 60)]
    assert [figures(step) for step in answer["steps"]] == steps
    assert answer["steps"][2]["median_seconds_since_first"] == pytest.approx(7200, abs=2)
    assert answer["groups"] == [{"campaign": "spring", "steps": answer["steps"]}]
    assert any(note.startswith("5 clicks were counted") and "told of 3" in note for note in answer["notes"])
    by_link = (await ask(client, organization, group_by=["link"])).json()["groups"]
    assert [(group["link"], group["short_url"]) for group in by_link] == [(link_id, url)]
    within = {"steps": [STEPS[0], {"kind": "lead"}], "ordered": False, "within_days": 1, "by": "customer"}
    assert [step["count"] for step in (await ask(client, organization, **within)).json()["steps"]] == [3, 0]


async def test_what_is_refused(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Errors of all steps are told together, and a property that is not marked is named with its step."""
    wrong = [{"kind": "visit"}, {"kind": "click", "who": 1}]
    told = (await ask(client, organization, steps=wrong, measures=["clicks"])).json()["errors"]
    assert [error["fieldName"] for error in told] == ["measures", "steps[0].kind", "steps[1].who"]
    unmarked = [*STEPS, {"kind": "event", "filters": {"event.plan": ["gold"]}}]
    answer = await ask(client, organization, steps=unmarked)
    message = answer.json()["error"]["errorMessage"]
    assert (answer.status_code, message[:40]) == (400, "steps[3].filters.event.plan can't be by ")
    error = (await client.post(f"{API}/analytics/funnel", json={}, headers=organization.headers)).json()
    assert error["error"] == {"errorMessage": "steps field is required", "fieldName": "steps"}
