"""What visitors, servers and apps tell is in the feed: each telling once, as it was then."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.feed.event_shapes import EVENT_SHAPES
from backend.domain.feed.events import Event, EventType
from backend.domain.fields.shapes import schema_of
from backend.domain.ids import CustomerId, InstallId
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.persons import Subject
from backend.domain.visitors.server_calls import OWN_FIELDS
from backend.storage.apps.installs import record_install
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.outbox import entries
from tests.api.told_sales import API, tell
from tests.facts.feeds import is_erasure, read_all
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

EMAIL = "a" * 64


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A visitor on the site of this test's organization."""
    return Visitor(client, organization)


def event_values(events: list[Event], *names: str) -> list[Any]:
    """The type of each event, and these fields of its data."""
    return [(event.type.value, *(event.data.get(name) for name in names)) for event in events]


def test_the_shapes_have_the_fields_of_calls() -> None:
    """An event has every field that such a call may have."""
    for kind in (Kind.LEAD, Kind.CONVERSION, Kind.EVENT):
        assert OWN_FIELDS[kind].keys() <= schema_of(EVENT_SHAPES[EventType(kind.value)])["properties"].keys()


async def test_calls_of_a_browser(visitor: Visitor, database: Database) -> None:
    """Each call is an event with what it said and what led to it; a visit alone is none."""
    lead = call("lead", customer_id="ada", event_id="l-1", email_sha256=EMAIL)
    sale = conversion(transaction_id="t-1", product_id="kite", customer_id="ada")
    custom_event = call("event", name="viewed", metadata={"price": 1.5})
    identified = call("identify", customer_id="ada", name="Ada", email_sha256=EMAIL, phone_sha256="b" * 64)
    visit = check(utm_source="news", gclid="g-1", ago=timedelta(seconds=1))
    await visitor.results(visit, identified, lead, sale, custom_event)
    assert (await visitor.result(lead))["status"] == "duplicate"
    events = await read_all(database, visitor.organization.id)
    assert event_values(events, "told_by", "told_again", "id") == [
        ("identify", None, None, None),
        ("lead", "browser", False, lead["call_id"]),
        ("conversion", "browser", False, sale["call_id"]),
        ("event", "browser", False, custom_event["call_id"]),
    ]
    identify, told_lead, told_sale, told_event = (event.data for event in events)
    assert identify == {
        "device_id": visitor.device_id,
        "customer_id": "ada",
        "taken_back": False,
        "name": "Ada",
        "emails_sha256": [EMAIL],
        "phone_sha256": "b" * 64,
    }
    assert told_lead["event_id"] == "l-1"
    assert told_sale["touch"].pop("at")
    assert told_sale == {
        "id": sale["call_id"],
        "told_by": "browser",
        "told_again": False,
        "customer_id": "ada",
        "device_id": visitor.device_id,
        "page": "https://shop.example/kites",
        "transaction_id": "t-1",
        "revenue": "19.99",
        "currency": "EUR",
        "product_id": "kite",
        "metadata": None,
        "link_id": None,
        "touch": {"link_id": None, "variant": None, "utm": {"utm_source": "news"}, "click_ids": ["gclid"]},
    }
    assert (told_event["name"], told_event["metadata"]) == ("viewed", {"price": 1.5})


async def test_a_sale_that_is_told_again(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """What a further telling says more is a further event; the first one stays as it was."""
    sale = {"transaction_id": "t-1", "revenue": 12.5, "currency": "EUR"}
    await tell(client, organization, "conversions", sale | {"customer_id": "ada"})
    await visitor.results(conversion(**sale, product_id="kite"))
    await visitor.results(conversion(**sale, product_id="boat"))
    first, again = await read_all(database, organization.id, [EventType.CONVERSION])
    assert first.data["id"] == again.data["id"]
    names = ("told_by", "told_again", "device_id", "customer_id", "product_id", "page")
    assert event_values([first, again], *names) == [
        ("conversion", "server", False, None, "ada", None, None),
        ("conversion", "browser", True, visitor.device_id, "ada", "kite", "https://shop.example/kites"),
    ]


async def test_both_tellings_in_one_request(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Also a sale that is completed in the moment in which it is stored is told twice."""
    sale = {"transaction_id": "t-1", "revenue": 12.5, "currency": "EUR", "customer_id": "ada"}
    await tell(client, organization, "conversions", sale, sale | {"product_id": "kite"}, sale)
    events = await read_all(database, organization.id)
    assert event_values(events, "told_again", "product_id") == [
        ("conversion", False, None),
        ("conversion", True, "kite"),
    ]


async def test_refunds(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> None:
    """Each refund is an event that names its sale; one that is refused or repeated is none."""
    sale = {"transaction_id": "t-1", "revenue": 12.5, "currency": "EUR", "customer_id": "ada"}
    [sale_answer] = await tell(client, organization, "conversions", sale)
    refund: dict[str, Any] = {"transaction_id": "t-1", "currency": "EUR"}
    parts = [refund | {"refund_id": f"r-{number}", "amount": number} for number in (1, 2, 100)]
    await tell(client, organization, "conversions/refund", *parts)
    await tell(client, organization, "conversions/refund", parts[0], refund | {"refund_id": "r", "amount": 3})
    events = await read_all(database, organization.id, [EventType.REFUND])
    assert event_values(events, "id", "amount") == [
        ("refund", "r-1", "1.00"),
        ("refund", "r-2", "2.00"),
        ("refund", "r", "3.00"),
    ]
    assert {event.data["conversion_id"] for event in events} == {sale_answer["id"]}
    assert {(event.data["transaction_id"], event.data["currency"]) for event in events} == {("t-1", "EUR")}


async def test_identities_that_are_taken_back(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A wrong identity is told when it is told, and when it is taken back; a customer without device too."""
    await visitor.results(call("identify", customer_id="ada"))
    await tell(client, organization, "identities", {"customer_id": "bob"})
    wrong = {"device_id": visitor.device_id, "customer_id": "ada"}
    answer = await client.delete(f"{API}/identities", params=wrong, headers=organization.headers)
    assert answer.status_code == 204
    again = await client.delete(f"{API}/identities", params=wrong, headers=organization.headers)
    assert again.status_code == 404
    events = await read_all(database, organization.id)
    assert event_values(events, "customer_id", "device_id", "taken_back") == [
        ("identify", "ada", visitor.device_id, False),
        ("identify", "bob", None, False),
        ("identify", "ada", visitor.device_id, True),
    ]


async def test_installs(organization: TestOrganization, database: Database) -> None:
    """The first launch of an app is an event, once."""
    at = datetime.now(UTC).replace(microsecond=0)
    install = Install(organization.id, InstallId("phone-1"), AppPlatform.ANDROID, None, at)
    assert await record_install(database, install)
    assert not await record_install(database, install)
    [event] = await read_all(database, organization.id)
    assert (event.type, event.at) == (EventType.INSTALL, at)
    assert event.data == {"install_id": "phone-1", "platform": "android", "link_id": None, "match": "none"}


async def test_erasures(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Whoever is erased is in no event and in no fact any more, but in those that say what to erase."""
    other = Visitor(client, organization)
    for person, name in ((visitor, "zoe"), (other, "bob")):
        await person.results(
            check(utm_source="news"),
            call("identify", customer_id=name),
            call("lead", customer_id=name),
            conversion(transaction_id=name),
        )
        refund = {"refund_id": name, "transaction_id": name, "amount": 1, "currency": "EUR"}
        await tell(client, organization, "conversions/refund", refund)
    before = await read_all(database, organization.id)
    assert len(before) == 8
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("zoe")))
    *remaining, erased = await read_all(database, organization.id)
    assert [event for event in before if event in remaining] == remaining == before[4:]
    assert erased.type is EventType.ERASED
    assert list(erased.data.items()) == [
        ("customers", ["zoe"]),
        ("devices", [visitor.device_id]),
        ("emails_sha256", []),
        ("installs", []),
        ("shared_devices", []),
    ]
    stored = await database["feed_entries"].find({"org_id": organization.id}).to_list()
    others = [entry for entry in stored if not is_erasure(entry)]
    [erasure] = [entry for entry in stored if entry["facts"][0]["type"] == "erased"]
    assert [name for name in ("zoe", visitor.device_id) if name in str(others)] == []
    assert erasure["expires_at"] == erasure["facts"][0]["at"] + entries.REMOVAL_FACTS_KEPT


async def test_an_erased_install_and_a_shared_device(
    visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Of a device that others use too, the feed says when it was the person's."""
    install = Install(organization.id, InstallId("phone-1"), AppPlatform.IOS, None, datetime.now(UTC))
    assert await record_install(database, install)
    await visitor.results(call("identify", customer_id="ada", ago=timedelta(hours=2)))
    await visitor.results(call("identify", customer_id="bob", ago=timedelta(hours=1)))
    await erase_subject(database, organization.id, Subject(install_id=InstallId("phone-1")))
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("ada")))
    bob, of_phone, of_ada = await read_all(database, organization.id)
    assert event_values([bob], "customer_id") == [("identify", "bob")]
    assert of_phone.data["installs"] == ["phone-1"]
    [shared] = of_ada.data["shared_devices"]
    assert shared["device_id"] == visitor.device_id
    before, after = shared["times"]
    assert (before["from"], before["to"]) == (None, after["from"])
    assert datetime.fromisoformat(after["to"]) == bob.at
    cursor = database["feed_entries"].find({"org_id": organization.id, "expires_at": None})
    kept = str(await cursor.to_list())
    assert [name for name in ("ada", "phone-1") if repr(name) in kept] == []  # "ada" is also in some UUIDs
    assert repr("bob") in kept


async def test_nothing_of_another_organization(
    visitor: Visitor, make_organization: Any, database: Database
) -> None:
    """An id that another organization's call has too brings nothing into another's feed."""
    elsewhere = Visitor(visitor.client, await make_organization(), visitor.device_id)
    sale = conversion(transaction_id="t-1", call_id=str(uuid.uuid4()))
    for teller in (visitor, elsewhere):
        assert (await teller.result(sale))["status"] == "accepted"
    for teller in (visitor, elsewhere):
        [event] = await read_all(database, teller.organization.id)
        assert event.org_id == teller.organization.id
