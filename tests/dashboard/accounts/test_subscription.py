"""The page that says what the organization pays for."""

from __future__ import annotations

from datetime import timedelta

import httpx

from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.apps.test_open import OPEN, open_body
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


async def test_none_active_and_ended(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """The page says whether there is a subscription, until when, and when it has ended."""
    assert '<span class="badge">None</span>' in (await person.get("/subscription")).text
    await set_subscription(database, organization.id, utc_now() + timedelta(days=2))
    assert '<span class="badge good">Active</span>' in (await person.get("/subscription")).text
    clock.offset = timedelta(days=3)
    assert '<span class="badge bad">Ended</span>' in (await person.get("/subscription")).text


async def test_installs_of_a_link_need_it(
    person: Person, client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Its page shows them with a subscription only, as the REST API does; else it says what they need, where
    the link opens an app."""
    link_ids = {}
    for behavior in (1, 2):
        short_url = await create(client, organization, ios_behavior=behavior)
        link_ids[behavior] = (await info(client, organization, short_url))["id"]
        for _ in range(3):
            body = open_body(short_url=short_url)
            await client.post(OPEN, json=body, headers={"API-KEY": organization.mobile_key})
    for ago, status in ((None, 403), (timedelta(days=1), 200), (timedelta(days=-1), 403)):
        await set_subscription(database, organization.id, utc_now() + ago if ago else None)
        for behavior, link_id in link_ids.items():
            page = (await person.get(f"/links/{link_id}")).text
            over_rest = await client.post(
                f"{API}/install-analytics", json={"linkId": link_id}, headers=organization.headers
            )
            assert over_rest.status_code == status
            assert ("<dt>App installs</dt><dd>3</dd>" in page) is (status == 200)
            assert ('<a href="/subscription">subscription</a>' in page) is (status == 403 and behavior == 2)
