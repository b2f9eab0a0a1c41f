"""Customers over time over REST, from the SDK's calls on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx

from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


async def asked(
    client: httpx.AsyncClient, organization: TestOrganization, what: str, **body: Any
) -> dict[str, Any]:
    """The answer to one of the questions."""
    answer = await client.post(f"{API}/analytics/{what}", json=body, headers=organization.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def at(moment: datetime) -> dict[str, str]:
    """When a call happened, for times between calls that are exact."""
    return {"occurred_at": moment.isoformat()}


async def test_customers_over_time(client: httpx.AsyncClient, make_organization: OrganizationFactory) -> None:
    """What a customer bought in the weeks after a campaign's touch, how long that took, and who was new."""
    organization, other = await make_organization(), await make_organization()
    now = utc_now()
    ada, bob = Visitor(client, organization), Visitor(client, organization)
    await ada.results(
        call("identify", customer_id="ada", ago=5 * DAY),
        check(utm_campaign="spring") | at(now - 5 * DAY),
        conversion(revenue=20, customer_id="ada") | at(now - 5 * DAY + HOUR),
        check(utm_campaign="mail") | at(now - 2 * DAY),
        conversion(revenue=5, customer_id="ada") | at(now - DAY),
    )
    await bob.results(conversion(ago=2 * HOUR, revenue=7))

    found = await asked(client, organization, "cohorts")
    [cohort] = [row for row in found["cohorts"] if row["customers"]]
    week = cohort["weeks"][0]
    assert (week["customers"], week["conversions"], week["revenue"]) == (
        1, 2, [{"currency": "EUR", "amount": "25.00"}],
    )  # fmt: skip
    assert found["notes"] == ["1 conversion without a customer id: nobody knows whose first one that was."]
    for campaign, customers in (("spring", 1), ("mail", 0)):
        some = await asked(client, organization, "cohorts", filters={"campaign": [campaign]})
        assert sum(row["customers"] for row in some["cohorts"]) == customers

    took = await asked(client, organization, "time-to-sale")
    assert (took["conversions"], took["not_credited"]) == (2, 1)
    assert (took["median_seconds"], took["p90_seconds"]) == (3600, 86_400)
    filled = [bucket for bucket in took["buckets"] if bucket["conversions"]]
    assert [(bucket["from_seconds"], bucket["to_seconds"]) for bucket in filled] == [
        (3600, 21_600), (86_400, 259_200),
    ]  # fmt: skip
    kinds = await asked(client, organization, "new-and-returning", timezone="Europe/Berlin")
    assert {name: (kind["customers"], kind["conversions"]) for name, kind in kinds.items()} == {
        "new": (1, 2), "returning": (0, 0), "unknown": (0, 1),
    }  # fmt: skip
    two_days_ago = f"{utc_now() - 2 * DAY:%Y-%m-%d}"
    lately = await asked(client, organization, "new-and-returning", **{"from": two_days_ago})
    assert (lately["returning"]["customers"], lately["new"]["customers"]) == (1, 0)

    assert not any(row["customers"] for row in (await asked(client, other, "cohorts"))["cohorts"])
    refused = await client.post(
        f"{API}/analytics/time-to-sale", json={"model": "linear", "weeks": 3}, headers=organization.headers
    )
    assert [error["fieldName"] for error in refused.json()["errors"]] == ["weeks"]
