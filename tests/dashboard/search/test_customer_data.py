"""A person who asks what is stored about them, or wants it gone."""

from __future__ import annotations

import httpx

from backend.domain.accounts.roles import Role
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person, make_user, open_session
from tests.dashboard.search.test_search import CUSTOMER, FOUND_CUSTOMER, ORDER, tell
from tests.facts.organizations import TestOrganization

EXPORT = "/customer/export?id=ada/7%26b"


async def test_all_that_is_stored_is_a_file(
    person: Person,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
) -> None:
    """Of this organization alone, by the names of what it is."""
    await tell(client, organization)
    await tell(client, await make_organization())
    answer = await person.get(EXPORT)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="customer.json"'
    stored = answer.json()
    assert [sale["transaction_id"] for sale in stored["conversions"]] == [ORDER]
    assert {document["org_id"] for document in stored["conversions"]} == {organization.id}
    assert {"contacts", "devices", "leads", "events"} <= stored.keys()


async def test_a_customer_is_erased(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Once the id was typed again; then nobody is found by it, and the file is empty."""
    await tell(client, organization)
    refused = await person.send(FOUND_CUSTOMER, "/customer/erase", typed_id=f"{CUSTOMER}x")
    assert (refused.status_code, "is not the id of this customer" in refused.text) == (422, True)
    assert (await person.get(EXPORT)).json() != {}
    await person.send(FOUND_CUSTOMER, "/customer/erase", typed_id=f" {CUSTOMER} ")
    assert (await person.get(FOUND_CUSTOMER)).status_code == 404
    assert (await person.get(EXPORT)).json() == {}


async def test_who_may_not_erase_sees_no_form(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """An analyst does not see customers at all."""
    await tell(client, organization)
    analyst = Person(person.client, await make_user(database, organization.id, role=Role.ANALYST))
    await open_session(database, analyst)
    assert (await analyst.get(EXPORT)).status_code == 403
