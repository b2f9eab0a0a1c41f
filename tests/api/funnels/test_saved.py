"""Saved funnels over REST: made, listed, changed and deleted."""

from __future__ import annotations

from typing import Any

import httpx

from backend.domain.analytics.funnels.saved import MOST_FUNNELS
from backend.storage.audit.recording import unrecorded
from backend.storage.driver.mongo import Database
from backend.storage.funnels.saved_funnels import NAME
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

STEPS = [
    {"kind": "click", "name": None, "filters": {"country": ["AT", "DE", None], "campaign": {"not": ["old"]}}},
    {"kind": "event", "name": "added_to_cart", "filters": {"event": {"prefix": "added"}}},
]


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str = "", body: object = None
) -> httpx.Response:
    """A call about funnels with the organization's key."""
    return await client.request(method, f"{API}/funnels{path}", json=body, headers=of.headers)


async def test_a_funnel_from_making_to_deleting(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Its fields are answered as they were given, with their defaults, and each can be changed by itself."""
    answer = await call(client, organization, "POST", body={"name": "Cart", "steps": STEPS})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    usual = {"by": "device", "within_days": 30, "ordered": True, "group_by": []}
    given = {"id": made["id"], "name": "Cart", "steps": STEPS, "created_at": made["created_at"]}
    assert made == usual | given
    assert (await call(client, organization, "GET")).json() == {"funnels": [made]}
    changes: dict[str, Any] = {"name": "Basket", "by": "customer", "ordered": False, "group_by": ["link"]}
    one = f"/{made['id']}"
    assert (await call(client, organization, "PATCH", one, changes)).json() == made | changes
    assert (await call(client, organization, "PATCH", one, {"within_days": 7})).json()["within_days"] == 7
    assert (await call(client, organization, "PATCH", one, {})).json() == made | changes | {"within_days": 7}
    refused = await call(client, organization, "PATCH", one, {"steps": [STEPS[0], STEPS[0]]})
    assert refused.json()["error"]["fieldName"] == "steps[1]"
    assert (await call(client, organization, "GET", one)).json()["steps"] == STEPS
    assert (await call(client, organization, "DELETE", one)).status_code == 204
    assert (await call(client, organization, "GET", one)).status_code == 404


async def test_another_organization_s_funnel_is_not_found(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Nobody else reads, changes or deletes it, and a number above the limit is refused."""
    owner, other = await make_organization(), await make_organization()
    made = (await call(client, owner, "POST", body={"name": "x", "steps": STEPS})).json()
    for method, body in (("GET", None), ("PATCH", {"name": "mine"}), ("DELETE", None)):
        answer = await call(client, other, method, f"/{made['id']}", body)
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (404, "FUNNEL_NOT_FOUND")
    assert (await call(client, owner, "GET")).json()["funnels"] == [made]


async def test_an_organization_has_a_bounded_number(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """One more than the limit is refused."""
    made = (await call(client, organization, "POST", body={"name": "x", "steps": STEPS})).json()
    document = await database[NAME].find_one({"_id": made["id"]})
    assert document
    ids = [f"{organization.id}/{number}" for number in range(1, MOST_FUNNELS)]
    await unrecorded(database)[NAME].insert_many([document | {"_id": given_id} for given_id in ids])
    answer = await call(client, organization, "POST", body={"name": "y", "steps": STEPS})
    assert (answer.status_code, answer.json()["error"]["errorMessage"][:4]) == (400, "name")
