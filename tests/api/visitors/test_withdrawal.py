"""POST /serviceCore/sdk/v1/batch with `erase`: a visitor withdraws consent, and what is stored goes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.domain.ids import DeviceId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.organizations import set_erases_on_withdrawal
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import export_subject
from tests.api.told_sales import tell
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion


async def stored_of(database: Database, visitor: Visitor) -> list[str]:
    """The collections in which something of the visitor's device is."""
    subject = Subject(device_id=visitor.device_id)
    return sorted([name async for name, _ in export_subject(database, visitor.organization.id, subject)])


async def erase(visitor: Visitor) -> dict[str, object]:
    """What is answered to the visitor's withdrawal."""
    response = await visitor.post(erase=True)
    assert response.status_code == 200, response.text
    answer: dict[str, object] = response.json()
    return answer


async def test_a_withdrawal_erases_the_device_and_no_other(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Where the organization has switched it on: touches, identity, sales and events of this device alone."""
    await set_erases_on_withdrawal(database, organization.id, is_on=True)
    leaving, staying = Visitor(client, organization), Visitor(client, organization)
    for visitor in (leaving, staying):
        calls = [check(utm_source="news"), call("lead"), conversion(), call("event", name="e")]
        await visitor.results(*calls)
    before = await stored_of(database, staying)
    assert "devices" in before
    assert "conversions" in before
    assert await stored_of(database, leaving) == before
    for _ in range(2):  # also where an answer was lost
        assert await erase(leaving) == {"results": [], "erased": True}
    assert await stored_of(database, leaving) == []
    assert await stored_of(database, staying) == before


async def test_an_organization_that_did_not_switch_it_on(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Nothing is erased, and the answer says why."""
    visitor = Visitor(client, organization)
    await visitor.results(conversion())
    answer = await erase(visitor)
    assert answer["erased"] is False
    assert "waylink privacy withdrawal" in str(answer["notes"])
    assert "conversions" in await stored_of(database, visitor)


async def test_another_organization_erases_nothing(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """A device id that two organizations know is erased for the one whose key was sent."""
    first, second = await make_organization(), await make_organization()
    for organization in (first, second):
        await set_erases_on_withdrawal(database, OrgId(organization.id), is_on=True)
    here = Visitor(client, first)
    there = Visitor(client, second, DeviceId(here.device_id))
    for visitor in (here, there):
        await visitor.results(conversion())
    await erase(here)
    assert await stored_of(database, here) == []
    assert "conversions" in await stored_of(database, there)


async def test_made_up_devices_leave_no_trace(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Where nothing is erased, neither the audit log nor the feed has anything of it."""
    await set_erases_on_withdrawal(database, organization.id, is_on=True)
    noted = {"org_id": organization.id}
    before = await database["feed_entries"].count_documents(noted)
    for _ in range(3):
        assert (await erase(Visitor(client, organization)))["erased"] is True
    assert await database["feed_entries"].count_documents(noted) == before
    leaving = Visitor(client, organization)
    await leaving.results(check(utm_source="news"))
    for _ in range(2):
        await erase(leaving)
    cursor = database["feed_entries"].find(noted)
    told = [fact["type"] for entry in await cursor.to_list() for fact in entry["facts"]]
    assert [told.count(name) for name in ("erased", "audit")] == [1, before + 1]
    assert await database["erasures"].count_documents(noted) == 0


async def test_nobody_erases_an_order_by_guessing_its_number(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A browser that tells a server's order, or another browser's, is gone from it, and the order stays."""
    await set_erases_on_withdrawal(database, organization.id, is_on=True)
    order = {"transaction_id": "order-7", "revenue": 5, "currency": "EUR"}
    await tell(client, organization, "conversions", order | {"customer_id": "ada"})
    guessing = Visitor(client, organization)
    await guessing.result(conversion(**order))
    await erase(guessing)
    [sale] = await database["conversions"].find({"org_id": organization.id}).to_list()
    assert (sale["transaction_id"], sale["device_id"]) == ("order-7", None)
    assert guessing.device_id not in str(sale)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"erase": "yes", "calls": []}, "erase must be true or false"),
        ({"erase": True, "calls": [1]}, "calls must be empty or left out beside `erase`"),
        ({"erase": False, "calls": []}, "calls must be an array of 1 to 50 calls"),
    ],
)
async def test_bad_input(
    client: httpx.AsyncClient, organization: TestOrganization, changes: dict[str, Any], sentence: str
) -> None:
    """What is wrong is named."""
    response = await Visitor(client, organization).post(**changes)
    assert response.status_code == 400
    assert sentence in response.text
