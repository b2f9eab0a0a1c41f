"""The search of the navigation: links, an order by its transaction id, a customer by their id."""

from __future__ import annotations

from datetime import timedelta

import httpx

from backend.domain.visitors.calls import Kind
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.driver.mongo import Database
from tests.api.link_calls import create
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.campaigns import words
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

ORDER, CUSTOMER = "order-1042", "ada/7&b"
FOUND_ORDER = f"/attribution/sale?order={ORDER}"
FOUND_CUSTOMER = "/customer?id=ada/7%26b"


async def tell(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A customer who came by a campaign, left an address, put something in a basket and bought."""
    await Visitor(client, organization).results(
        check(utm_campaign="spring"),
        call(Kind.IDENTIFY, customer_id=CUSTOMER),
        call(Kind.LEAD),
        call(Kind.EVENT, name="added_to_cart"),
        conversion(transaction_id=ORDER, revenue=59.9, currency="EUR"),
    )


async def test_what_is_found(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Links by a part of their name, an order and a customer by their whole id, in the list of links too."""
    await create(client, organization, link_name="Spring sale", selected_path="spring-1")
    await tell(client, organization)
    found_links = (await person.get("/search?q=pring%20sa")).text
    assert "Spring sale" in found_links
    assert "With exactly this id" not in found_links
    for page in ("/search", "/links"):
        order = (await person.get(f"{page}?q=%20{ORDER}%20")).text
        assert f'href="{FOUND_ORDER}"' in order
        assert f'href="{FOUND_CUSTOMER}"' in order
        customer = (await person.get(f"{page}?q=ada/7%26b")).text
        assert f'href="{FOUND_CUSTOMER}"' in customer
        assert FOUND_ORDER not in customer
    assert "Nothing found" in (await person.get(f"/search?q={ORDER[:-1]}")).text
    assert (await person.get("/search?q=%00")).status_code == 200


async def test_the_history_of_a_customer(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Everything that happened stands there once, with what was paid; an unknown id is a 404."""
    await tell(client, organization)
    page = await person.get(FOUND_CUSTOMER)
    shown = words(page.text)
    assert page.status_code == 200
    for happened in (
        "Identified on a device",
        "A visit from utm_campaign=spring",
        "Lead",
        "Event “added_to_cart”",
    ):
        assert happened in shown
    assert page.text.count(f'href="{FOUND_ORDER}"') == 1
    assert "59.90 EUR" in shown
    assert (await person.get("/customer?id=nobody")).status_code == 404
    assert (await person.get("/customer")).status_code == 200


async def test_nothing_of_another_organization(
    person: Person, client: httpx.AsyncClient, database: Database, make_organization: OrganizationFactory
) -> None:
    """Neither its orders nor its customers are found, and a customer's page has nothing of it."""
    other = await make_organization()
    await create(client, other, link_name="Theirs", selected_path="theirs-1")
    await tell(client, other)
    for text in (ORDER, "ada/7%26b", "Theirs"):
        for page in ("/search", "/links"):
            shown = (await person.get(f"{page}?q={text}")).text
            assert "/attribution/sale?order=" not in shown
            assert "/customer?id=" not in shown
            assert "/links/theirs" not in shown
    assert (await person.get(FOUND_CUSTOMER)).status_code == 404


async def test_what_a_shorter_retention_ends(
    person: Person,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    clock: MovableClock,
) -> None:
    """It is found no more from then on, nor has it a page, though MongoDB deletes it later."""
    clock.offset = -timedelta(days=40)
    await tell(client, organization)
    clock.offset = timedelta()
    for page in (FOUND_ORDER, FOUND_CUSTOMER):
        assert (await person.get(page)).status_code == 200
    await set_retention_days(database, organization.id, 30)
    for page in (FOUND_ORDER, FOUND_CUSTOMER):
        assert (await person.get(page)).status_code == 404
    assert "With exactly this id" not in (await person.get(f"/search?q={ORDER}")).text
