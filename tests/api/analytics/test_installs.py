"""POST /install-analytics (contract, "Install analytics")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.analytics.test_counts import EMPTY, UNKNOWN
from tests.api.apps.test_open import OPEN, open_body
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization

NO_SUBSCRIPTION = {
    "code": 115,
    "errorMessage": "Access Denied",
    "error": {
        "errorMessage": "UNAUTHORIZED_ACCESS",
        "fieldName": "Your subscription is not valid for install analytics. "
        "Please upgrade your subscription.",
    },
}


async def post(
    client: httpx.AsyncClient, organization: TestOrganization, body: dict[str, Any]
) -> httpx.Response:
    """Send an install-analytics body."""
    return await client.post(f"{API}/install-analytics", json=body, headers=organization.headers)


@pytest.fixture
async def subscriber(organization: TestOrganization, database: Database) -> TestOrganization:
    """An organization with a subscription."""
    await set_subscription(database, organization.id, utc_now() + timedelta(days=36500))
    return organization


async def test_the_contract_s_example(client: httpx.AsyncClient, subscriber: TestOrganization) -> None:
    """Installs that a link led to are counted, each once; organic ones are not the link's."""
    short_url = await create(client, subscriber)
    again = open_body(short_url=short_url)
    for body in (again, again, open_body(short_url=short_url), open_body()):
        await client.post(OPEN, json=body, headers={"API-KEY": subscriber.mobile_key})
    answer = await post(client, subscriber, {"shortUrl": short_url})
    assert (answer.status_code, answer.json()) == (
        200,
        {"installs_last_30_days": 2, "installs_last_7_days": 2, "total_installs": 2},
    )


async def test_installs_leave_the_windows(
    client: httpx.AsyncClient, subscriber: TestOrganization, clock: MovableClock
) -> None:
    """An install counts for 7 and for 30 days, and in the total for ever."""
    link_id = (await info(client, subscriber, await create(client, subscriber)))["id"]
    await client.post(OPEN, json=open_body(link_id=link_id), headers={"API-KEY": subscriber.mobile_key})
    seen = []
    for days in (6, 8, 31):
        clock.offset = timedelta(days=days)
        seen.append(list((await post(client, subscriber, {"linkId": link_id})).json().values()))
    assert seen == [[1, 1, 1], [1, 0, 1], [0, 0, 1]]


async def test_without_a_subscription(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Without a subscription access is denied, with the two inner values in the contract's order."""
    answer = await post(client, organization, {"shortUrl": await create(client, organization)})
    assert (answer.status_code, answer.json()) == (403, NO_SUBSCRIPTION)


async def test_a_subscription_that_has_ended(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A subscription holds until its end, and not from then on."""
    await set_subscription(database, organization.id, utc_now() + timedelta(hours=1))
    body = {"shortUrl": await create(client, organization)}
    before = await post(client, organization, body)
    clock.offset = timedelta(hours=1)
    after = await post(client, organization, body)
    assert (before.status_code, after.status_code) == (200, 403)


async def test_neither(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Without shortUrl and linkId the error has shape B, with or without a subscription."""
    answer = await post(client, organization, {})
    assert (answer.status_code, answer.json()) == (400, EMPTY)


async def test_an_unknown_link(
    client: httpx.AsyncClient, subscriber: TestOrganization, make_organization: OrganizationFactory
) -> None:
    """Details that name no link of the organization have the same error as for clicks."""
    short_url = await create(client, await make_organization())
    for body in ({"shortUrl": short_url}, {"linkId": "x"}):
        answer = await post(client, subscriber, body)
        assert (answer.status_code, answer.json()) == (400, UNKNOWN)
