"""Saved funnels over REST. What holds of each resource is in tests/resources."""

from __future__ import annotations

import httpx

from tests.api.link_calls import API
from tests.facts.organizations import TestOrganization

STEPS = [
    {"kind": "click", "name": None, "filters": {"country": ["AT", "DE", None], "campaign": {"not": ["old"]}}},
    {"kind": "event", "name": "added_to_cart", "filters": {"event": {"prefix": "added"}}},
]


async def test_what_is_left_out_has_its_default(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Steps are answered as they were given, and a change that they do not fit is refused as a whole."""
    url, headers = f"{API}/funnels", organization.headers
    made = (
        await client.post(url, json={"name": "Cart", "steps": STEPS, "ordered": False}, headers=headers)
    ).json()
    usual = {"by": "device", "within_days": 30, "ordered": False, "group_by": []}
    given = {"id": made["id"], "name": "Cart", "steps": STEPS, "created_at": made["created_at"]}
    assert made == usual | given
    steps = {"name": "Basket", "steps": [STEPS[0], STEPS[0]]}
    refused = await client.patch(f"{url}/{made['id']}", json=steps, headers=headers)
    assert refused.json()["error"]["fieldName"] == "steps[1]"
    assert (await client.get(f"{url}/{made['id']}", headers=headers)).json() == made
