"""Erasure, access and retention of what visitors did."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from bson import decode_all
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument

from backend.domain.ids import CustomerId, InstallId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.apps.install_counts import count_install_window
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import aging_collections, personal_collections
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.lifecycle.retention import set_retention
from backend.storage.links import orphans
from tests.api.apps.test_open import OPEN
from tests.api.link_calls import create, info
from tests.api.told_sales import tell
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.feeds import is_erasure
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

# Where the SDK's visitors are; nothing says whose an app's installation is.
COLLECTIONS = [
    collection.name
    for collection, personal in personal_collections()
    if personal.has_owners and not personal.install
]
AGING = [collection.name for collection, _ in aging_collections()]
# What is asked for in vain is of nobody who is known.
AGING_OF_PERSONS = [name for name in AGING if name != orphans.NAME]
ADA = Subject(customer_id=CustomerId("ada"))
EMAIL_HASH = hashlib.sha256(b"ada@example.com").hexdigest()


async def left(database: Database, organization: TestOrganization) -> dict[str, int]:
    """How much each collection holds of an organization's visitors."""
    return {name: await database[name].count_documents({"org_id": organization.id}) for name in COLLECTIONS}


async def everything(visitor: Visitor, customer_id: str, **fields: Any) -> None:
    """One of each that can be stored of a person, some of it before they are known."""
    minutes = (timedelta(minutes=number) for number in range(9, 0, -1))
    await visitor.results(
        check(ago=next(minutes), gclid="g"),
        call("event", ago=next(minutes), name="before"),
        call("identify", ago=next(minutes), customer_id=customer_id, **fields),
        call("event", ago=next(minutes), name="after"),
        call("lead", ago=next(minutes)),
        conversion(ago=next(minutes), transaction_id=f"t-{customer_id}"),
    )


@pytest.mark.parametrize("by", ["customer_id", "email_sha256", "device_id"])
async def test_erasure_is_complete(visitor: Visitor, database: Database, by: str) -> None:
    """By customer, hashed e-mail or device: nothing is left, and the report says what it was."""
    await everything(visitor, "ada", email_sha256=EMAIL_HASH)
    values: dict[str, Any] = {
        "customer_id": "ada",
        "email_sha256": EMAIL_HASH,
        "device_id": visitor.device_id,
    }
    subject = Subject(**{by: values[by]})
    report = await erase_subject(database, visitor.organization.id, subject)
    assert report == {
        "events": 2, "leads": 1, "conversions": 1, "devices": 1, "contacts": 1,
        "installs": 0, "shared_devices": 0, "mails": 0, "report_recipients": 0,
    }  # fmt: skip
    assert set((await left(database, visitor.organization)).values()) == {0}


async def test_no_collection_is_forgotten(visitor: Visitor, database: Database) -> None:
    """After an erasure no collection of the whole database has the person's ids any more."""
    await everything(visitor, "ada-lovelace", email_sha256=EMAIL_HASH)
    for text in (visitor.device_id, "ada-lovelace", EMAIL_HASH):
        assert await collections_with(database, text), text
    await erase_subject(database, visitor.organization.id, Subject(customer_id=CustomerId("ada-lovelace")))
    assert await collections_with(database, visitor.device_id) == set()
    assert await collections_with(database, "ada-lovelace") == set()
    assert await collections_with(database, EMAIL_HASH) <= {"calls"}


async def test_erasure_leaves_others_alone(
    visitor: Visitor, make_organization: OrganizationFactory, database: Database
) -> None:
    """Another customer, and a customer of the same id in another organization, keep everything."""
    other = Visitor(visitor.client, visitor.organization)
    stranger = Visitor(visitor.client, await make_organization())
    await everything(visitor, "ada")
    await everything(other, "bob")
    await everything(stranger, "ada")
    await erase_subject(database, visitor.organization.id, ADA)
    expected = {
        "events": 2, "leads": 1, "conversions": 1, "devices": 1, "contacts": 1,
        "mails": 0, "report_recipients": 0,
    }  # fmt: skip
    assert await left(database, visitor.organization) == expected
    assert await left(database, stranger.organization) == expected


async def test_all_devices_of_a_customer_are_erased(visitor: Visitor, database: Database) -> None:
    """A customer's second device goes too, with what it did before it was identified."""
    await everything(visitor, "ada")
    await Visitor(visitor.client, visitor.organization).results(
        conversion(ago=timedelta(hours=1)), call("identify", customer_id="ada")
    )
    await erase_subject(database, visitor.organization.id, ADA)
    assert set((await left(database, visitor.organization)).values()) == {0}


async def test_a_shared_device_is_kept_for_the_other(visitor: Visitor, database: Database) -> None:
    """Of a device with two customers, what the first did goes, and what the second did stays."""
    await everything(visitor, "ada")
    await visitor.results(call("identify", customer_id="bob"), call("event", name="of bob"))
    await erase_subject(database, visitor.organization.id, ADA)
    events = [event["name"] async for event in database["events"].find({"org_id": visitor.organization.id})]
    assert events == ["of bob"]
    device = await database["devices"].find_one({"org_id": visitor.organization.id})
    assert device is not None
    assert [customer["customer_id"] for customer in device["customers"]] == ["bob"]


async def test_access_tells_of_nobody_whom_a_device_was_wrongly_said_to_be(
    visitor: Visitor, database: Database
) -> None:
    """What was taken back is in that customer's own file, and in no other's."""
    await visitor.results(call("identify", customer_id="bob", name="Bob", email_sha256="b" * 64))
    org_id, headers = visitor.organization.id, visitor.organization.headers
    wrong = {"device_id": visitor.device_id, "customer_id": "bob"}
    await visitor.client.delete("/serviceCore/pa/v1/identities", params=wrong, headers=headers)
    await everything(visitor, "ada")

    async def told(customer_id: str) -> list[tuple[str, str]]:
        file = export_subject(database, org_id, Subject(customer_id=CustomerId(customer_id)))
        return [(name, str(document)) async for name, document in file]

    assert [name for name, text in await told("ada") if "bob" in text] == []
    assert {"contacts", "devices"} <= {name for name, text in await told("ada") if "ada" in text}
    assert [name for name, text in await told("bob") if "Bob" in text] == ["contacts"]


async def test_an_installation_is_erased_and_stays_counted(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """No collection has its id any more, another's is left alone, and reported again it is not new."""
    short_url = await create(client, organization)
    link_id = (await info(client, organization, short_url))["id"]
    for install_id in ("mine-1", "another-1"):
        assert (await open_app(client, organization, InstallId(install_id), short_url))["is_new_install"]
    report = await erase_subject(database, organization.id, Subject(install_id=InstallId("mine-1")))
    assert {name: count for name, count in report.items() if count} == {"installs": 1}
    assert await collections_with(database, "mine-1") == set()
    assert await collections_with(database, "another-1") == {"installs", "feed_entries"}
    assert not (await open_app(client, organization, InstallId("mine-1"), short_url))["is_new_install"]
    assert await collections_with(database, "mine-1") == set()
    counts = await count_install_window(database, link_id, datetime.now(UTC) + timedelta(minutes=1))
    assert counts.total == 2


async def collections_with(database: Database, text: str) -> set[str]:
    """The collections that have a text anywhere, but for the feed where it says whom to erase.

    It looks at what MongoDB sends, and makes documents only of a batch that has the text: most of the
    database is of other tests.
    """
    found = set()
    for name in await database.list_collection_names():
        async for batch in database[name].find_raw_batches(batch_size=500):
            if text.encode() in batch and any(
                text.encode() in document.raw and not is_erasure(dict(document))
                for document in decode_all(batch, CodecOptions(document_class=RawBSONDocument))
            ):
                found.add(name)
    return found


async def open_app(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    install_id: InstallId,
    short_url: str | None = None,
) -> dict[str, Any]:
    """The first launch of an installation."""
    body = {"platform": "ios", "install_id": install_id, "is_first_launch": True, "short_url": short_url}
    answer = await client.post(OPEN, json=body, headers={"API-KEY": organization.mobile_key})
    answered: dict[str, Any] = answer.json()
    return answered


async def test_what_was_erased_does_not_count_again(visitor: Visitor, database: Database) -> None:
    """A transaction that was erased is a duplicate when it is reported again."""
    await everything(visitor, "ada")
    await erase_subject(database, visitor.organization.id, ADA)
    assert (await visitor.result(conversion(transaction_id="t-ada")))["status"] == "duplicate"


async def test_export_is_complete(visitor: Visitor, database: Database) -> None:
    """What erasure would delete is what is handed over."""
    await everything(visitor, "ada")
    await everything(Visitor(visitor.client, visitor.organization), "bob")
    exported = export_subject(database, visitor.organization.id, ADA)
    names = [name async for name, _ in exported]
    erased = await erase_subject(database, visitor.organization.id, ADA)
    assert {name: names.count(name) for name in COLLECTIONS} == {name: erased[name] for name in COLLECTIONS}


async def test_retention_dates_what_is_stored_and_what_comes(
    visitor: Visitor, database: Database, clock: MovableClock
) -> None:
    """A new limit dates old data at once and new data as it comes; none takes the dates away."""
    org_id = visitor.organization.id
    await set_retention(database, org_id, 30)
    clock.offset = timedelta(days=-100)
    await everything(visitor, "ada")
    await open_app(visitor.client, visitor.organization, InstallId("old"))
    clock.offset = timedelta()
    await everything(Visitor(visitor.client, visitor.organization), "bob")
    await open_app(visitor.client, visitor.organization, InstallId("new"))
    assert set((await out_of_date(database, org_id, clock())).values()) == {0.5}
    assert (await set_retention(database, org_id, 365))["events"] == 4
    assert set((await out_of_date(database, org_id, clock())).values()) == {0.0}
    assert set((await out_of_date(database, org_id, clock() + timedelta(days=364))).values()) == {0.5}
    await set_retention(database, org_id, None)
    for name in AGING_OF_PERSONS:
        assert await database[name].distinct("expires_at", {"org_id": org_id}) == [None]


@pytest.mark.parametrize("is_set_before", [True, False])
@pytest.mark.parametrize("subject", [ADA, Subject(email_sha256=EMAIL_HASH)])
async def test_whoever_was_identified_long_ago_is_found_as_long_as_the_device(
    visitor: Visitor, database: Database, clock: MovableClock, is_set_before: bool, subject: Subject
) -> None:
    """An identity lives as long as its device, however long ago it was told: an erasure finds both."""
    org_id = visitor.organization.id
    if is_set_before:
        await set_retention(database, org_id, 30)
    clock.offset = timedelta(days=-25)
    await visitor.result(call("identify", customer_id="ada", email_sha256=EMAIL_HASH))
    clock.offset = timedelta()
    await visitor.results(check(gclid="g"), call("event", name="later"))
    if not is_set_before:
        await set_retention(database, org_id, 30)
    # What MongoDB has deleted in the last second before the device itself goes.
    device = await database["devices"].find_one({"org_id": org_id})
    assert device
    for name in AGING:
        await database[name].delete_many({"org_id": org_id, "expires_at": {"$lt": device["expires_at"]}})
    await erase_subject(database, org_id, subject)
    assert set((await left(database, visitor.organization)).values()) == {0}


async def out_of_date(database: Database, org_id: OrgId, now: datetime) -> dict[str, float]:
    """Which part of each collection's documents is past its date."""
    return {
        name: await database[name].count_documents({"org_id": org_id, "expires_at": {"$lt": now}})
        / await database[name].count_documents({"org_id": org_id})
        for name in AGING_OF_PERSONS
    }


@pytest.mark.parametrize("name", [*AGING, "calls"])
async def test_mongodb_deletes_what_is_out_of_date(database: Database, name: str) -> None:
    """Each collection with dates has the index that makes MongoDB delete at that very date."""
    indexes = await database[name].index_information()
    assert indexes["expires_at_1"]["expireAfterSeconds"] == 0


async def test_an_erasure_takes_what_was_told_of_others_sales_and_did_not_count(
    visitor: Visitor, database: Database
) -> None:
    """An order that a browser told of one customer, and a server of another, names only the other then."""
    order = {"transaction_id": "t", "revenue": 5, "currency": "EUR"}
    await visitor.result(conversion(**order, customer_id="ada-lovelace"))
    (result,) = await tell(
        visitor.client, visitor.organization, "conversions", order | {"customer_id": "bob"}
    )
    assert result["status"] == "duplicate"
    await erase_subject(database, visitor.organization.id, Subject(customer_id=CustomerId("ada-lovelace")))
    [sale] = await database["conversions"].find({"org_id": visitor.organization.id}).to_list()
    assert sale["customer_id"] == "bob"
    assert "ada-lovelace" not in str(sale)


async def test_a_shared_device_s_records_are_whose_it_was(visitor: Visitor, database: Database) -> None:
    """What was told of nobody goes with the customer whose the device was then, and stays with the other."""
    await visitor.results(
        call("identify", ago=timedelta(hours=9), customer_id="ada"),
        call("event", ago=timedelta(hours=8), name="of ada"),
        call("identify", ago=timedelta(hours=7), customer_id="bob"),
        call("event", ago=timedelta(hours=6), name="of bob"),
    )
    await visitor.result(call("event", ago=timedelta(hours=8.5), name="of ada, late"))
    await erase_subject(database, visitor.organization.id, ADA)
    events = await database["events"].find({"org_id": visitor.organization.id}).to_list()
    assert [event["name"] for event in events] == ["of bob"]


async def test_who_was_replaced_owns_nothing(visitor: Visitor, database: Database) -> None:
    """Every checkout: a page says guest-123, then the server customer-7, whose all of the device is."""
    order = {"transaction_id": "t", "revenue": 5, "currency": "EUR"}
    await visitor.results(
        check(ago=timedelta(minutes=9), gclid="g"), call("event", ago=timedelta(minutes=8), name="e")
    )
    await visitor.result(conversion(**order, customer_id="guest-123"))
    told = order | {"customer_id": "customer-7", "device_id": visitor.device_id}
    await tell(visitor.client, visitor.organization, "conversions", told)
    wrong = {"device_id": visitor.device_id, "customer_id": "guest-123"}
    identities, headers = "/serviceCore/pa/v1/identities", visitor.organization.headers
    assert (await visitor.client.delete(identities, params=wrong, headers=headers)).status_code == 404
    await erase_subject(database, visitor.organization.id, Subject(customer_id=CustomerId("customer-7")))
    assert set((await left(database, visitor.organization)).values()) == {0}
    assert await collections_with(database, "guest-123") == set()


async def test_a_sale_stays_that_was_wrongly_somebody_else_s(visitor: Visitor, database: Database) -> None:
    """After a take-back the wrong customer's erasure leaves the sale: told again, it is the right one's."""
    organization, order = visitor.organization, {"transaction_id": "t", "revenue": 5, "currency": "EUR"}
    await visitor.results(
        call("identify", customer_id="bob"), conversion(**order, customer_id="ada-lovelace")
    )
    wrong = {"device_id": visitor.device_id, "customer_id": "ada-lovelace"}
    identities = "/serviceCore/pa/v1/identities"
    answer = await visitor.client.delete(identities, params=wrong, headers=organization.headers)
    assert answer.status_code == 204
    adas = Subject(customer_id=CustomerId("ada-lovelace"))
    file = [name async for name, _ in export_subject(database, organization.id, adas)]
    assert file == ["contacts"]
    assert (await erase_subject(database, organization.id, adas))["conversions"] == 0
    assert await collections_with(database, "ada-lovelace") == set()
    told = order | {"customer_id": "bob-the-builder", "product_id": "kite"}
    [result] = await tell(visitor.client, organization, "conversions", told)
    assert result["status"] == "duplicate"
    [sale] = await database["conversions"].find({"org_id": organization.id}).to_list()
    assert (sale["customer_id"], sale["product_id"]) == ("bob-the-builder", "kite")


@pytest.mark.parametrize("teller", ["browser", "server"])
async def test_an_address_joins_customers_where_servers_say_so(
    visitor: Visitor, database: Database, teller: str
) -> None:
    """Of three strangers of whom browsers told one's address, only what these browsers did goes with it."""
    organization = visitor.organization
    await tell(visitor.client, organization, "identities", {"customer_id": "ada", "email_sha256": EMAIL_HASH})
    for name in ("bob", "cleo", "eve"):
        away = Visitor(visitor.client, organization)
        await away.results(call("identify", customer_id=name), conversion(transaction_id=f"of {name}"))
        if teller == "server":
            told = {"customer_id": name, "email_sha256": EMAIL_HASH}
            await tell(visitor.client, organization, "identities", told)
            continue
        said = call("identify", customer_id=name, email_sha256=EMAIL_HASH)
        await Visitor(visitor.client, organization).results(
            said, conversion(transaction_id=f"said of {name}")
        )
    erased = await erase_subject(database, organization.id, Subject(email_sha256=EMAIL_HASH))
    assert erased["conversions"] == 3
    sales = await database["conversions"].find({"org_id": organization.id}).to_list()
    kept = ["of bob", "of cleo", "of eve"] if teller == "browser" else []
    assert sorted(sale["transaction_id"] for sale in sales) == kept
    assert await collections_with(database, EMAIL_HASH) <= {"calls"}


async def test_a_browser_keeps_no_address_from_being_erased_with_its_owner(
    visitor: Visitor, database: Database
) -> None:
    """A stranger who claims the address can't have the owner's own leads left behind."""
    organization = visitor.organization
    owners = {"customer_id": "ada", "email_sha256": EMAIL_HASH}
    await tell(visitor.client, organization, "identities", owners)
    await Visitor(visitor.client, organization).result(call("lead", email_sha256=EMAIL_HASH))
    claimed = call("identify", customer_id="bob", email_sha256=EMAIL_HASH)
    await visitor.result(claimed)
    erased = await erase_subject(database, organization.id, ADA)
    assert (erased["leads"], erased["devices"]) == (1, 1)
    assert await collections_with(database, EMAIL_HASH) <= {"calls"}
    left_over = await database["devices"].distinct("device_id", {"org_id": organization.id})
    assert left_over == [visitor.device_id]
