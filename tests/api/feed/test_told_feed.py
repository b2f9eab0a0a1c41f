"""The feed after random histories that were told to the service: all of it, in order, and nothing else."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from backend.domain.feed.events import Event
from backend.domain.ids import CustomerId, DeviceId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales.customers import customers_of
from tests.api.apps.test_open import OPEN
from tests.api.told_sales import API, stored, tell
from tests.examples import examples
from tests.facts.feeds import read_all
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, call, check, conversion

LASTING = (
    "visit",
    "identify",
    "lead",
    "event",
    "sale",
    "complete",
    "refund",
    "install",
    "repeat",
    "take back",
)
ERASE = "erase"
ACTS = (*LASTING, ERASE)
PERSONS = 3
# What an event is known by: its type, and whose or which it is.
Key = tuple[str, ...]
# An organization, a person and what is done.
Step = tuple[int, int, str]


@dataclass(slots=True)
class Person:
    """A customer with a device of their own, and what was told of them that the feed is to say."""

    visitor: Visitor
    customer_id: CustomerId
    told: list[Key] = field(default_factory=list)
    last: list[dict[str, Any]] = field(default_factory=list)
    sold_by: set[str] = field(default_factory=set)

    @property
    def sale(self) -> dict[str, Any]:
        """The one sale to them, as a server tells it."""
        paid = {"revenue": 100, "currency": "EUR", "customer_id": self.customer_id}
        return paid | {"transaction_id": f"t-{self.customer_id}"}


@dataclass(slots=True)
class Telling:
    """What was told to an organization, and so the events that its feed is to have, in order."""

    client: httpx.AsyncClient
    database: Database
    organization: TestOrganization
    persons: list[Person]
    expected: list[tuple[Person | None, Key]] = field(default_factory=list)

    async def act(self, person: Person, act: str) -> None:
        """Tell it in a request of its own, whose answer is awaited."""
        match act:
            case "visit":
                await self._send(person, check(utm_source="news"), ())
            case "identify":
                told = call("identify", customer_id=person.customer_id)
                await self._send(person, told, ("identify", person.customer_id, "False"))
            case "lead" | "event":
                told = call(act, customer_id=person.customer_id, name="viewed")
                await self._send(person, told, (act, told["call_id"]))
            case "sale":
                sale = conversion(**person.sale)
                [result] = await person.visitor.results(sale)
                person.last = [sale]
                await self._sold(person, "browser", is_new=result["status"] == "accepted")
            case "complete":
                sale = person.sale | {"product_id": "kite"}
                [result] = await tell(self.client, self.organization, "conversions", sale)
                await self._sold(person, "server", is_new=result["status"] == "accepted")
            case "repeat":
                if person.last:
                    results = await person.visitor.results(*person.last)
                    assert {result["status"] for result in results} == {"duplicate"}
            case "refund":
                await self._refund(person)
            case "install":
                await self._install(person)
            case "take back":
                wrong = {"device_id": person.visitor.device_id, "customer_id": person.customer_id}
                answer = await self.client.delete(
                    f"{API}/identities", params=wrong, headers=self.organization.headers
                )
                if answer.status_code == 204:
                    self._expect(person, ("identify", person.customer_id, "True"))
            case "erase":
                await self._erase(person)

    async def _erase(self, person: Person) -> None:
        """All that is the person's goes. What a device did that is nobody's stays, without a name."""
        records = [
            document
            for name in ("leads", "conversions", "events")
            for document in await stored(self.database, self.organization, name)
        ]
        owners = await customers_of(self.database, self.organization.id, records)
        of_others = {
            document.get("transaction_id") or document["_id"].partition("/")[2]
            for document, owner in zip(records, owners, strict=True)
            if owner != person.customer_id
        }
        of_others |= {key[1] for _, key in self.expected if key[0] == "refund" and key[2] in of_others}
        subject = Subject(customer_id=person.customer_id)
        erased = await erase_subject(self.database, self.organization.id, subject)
        self.expected = [
            (whose, key)
            for whose, key in self.expected
            if whose is not person or (key[0] != "identify" and key[1] in of_others)
        ]
        if any(erased.values()):
            self._expect(None, ("erased", person.customer_id))
        person.last = []
        person.sold_by.clear()

    async def _send(self, person: Person, told: dict[str, Any], key: Key) -> None:
        [result] = await person.visitor.results(told)
        person.last = [told]
        if result["status"] == "accepted" and key:
            self._expect(person, key)

    async def _sold(self, person: Person, teller: str, *, is_new: bool) -> None:
        """Either teller adds to what the other told: the browser its device, the server the product."""
        is_stored = await self.database["conversions"].count_documents(
            {"org_id": self.organization.id, "transaction_id": person.sale["transaction_id"]}
        )
        if is_new or (is_stored and teller not in person.sold_by):
            key = ("conversion", person.sale["transaction_id"], str(not is_new))
            self._expect(person, key)
        person.sold_by.add(teller)

    async def _refund(self, person: Person) -> None:
        refund = {
            "refund_id": str(uuid.uuid4()),
            "transaction_id": person.sale["transaction_id"],
            "amount": 1,
            "currency": "EUR",
        }
        answer = await self.client.post(
            f"{API}/conversions/refund", json={"items": [refund, refund]}, headers=self.organization.headers
        )
        if [result["status"] for result in answer.json()["results"]] == ["accepted", "duplicate"]:
            self._expect(person, ("refund", refund["refund_id"], refund["transaction_id"]))

    async def _install(self, person: Person) -> None:
        body: dict[str, Any] = {
            "platform": "ios",
            "install_id": f"of {person.customer_id}",
            "is_first_launch": True,
        }
        headers = {"API-KEY": self.organization.mobile_key}
        answer = await self.client.post(OPEN, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        if answer.json()["is_new_install"]:
            self._expect(None, ("install", body["install_id"]))

    def _expect(self, person: Person | None, key: Key) -> None:
        self.expected.append((person, key))


def key_of(event: Event) -> Key:
    """What the event is known by."""
    data = event.data
    match event.type.value:
        case "conversion":
            return ("conversion", data["transaction_id"], str(data["told_again"]))
        case "identify":
            return ("identify", data["customer_id"], str(data["taken_back"]))
        case "install":
            return ("install", data["install_id"])
        case "refund":
            return ("refund", data["id"], data["transaction_id"])
        case "erased":
            return ("erased", *data["customers"])
    return (event.type.value, data["id"])


STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, PERSONS - 1), st.sampled_from((*LASTING, *LASTING, ERASE))),
    min_size=5,
    max_size=25,
)


@given(steps=STEPS)
@example(steps=[(0, 0, act) for act in (*ACTS, *LASTING)])
@example(steps=[(0, 0, act) for act in (*reversed(LASTING), *ACTS)])
@example(
    steps=[(side, person, act) for act in LASTING for person in (0, 1) for side in (0, 1)] + [(1, 1, ERASE)]
)
@settings(max_examples=examples(5), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_the_feed_is_what_was_told(
    client: httpx.AsyncClient, database: Database, steps: Sequence[Step]
) -> None:
    """Each telling that was answered as new is one event, in the order of the answers, and of no other
    organization; of whoever was erased since, only that is left."""
    devices = [DeviceId(str(uuid.uuid4())) for _ in range(PERSONS)]
    sides = []
    for _ in range(2):  # the same people, in two organizations
        organization = await create_test_organization(database)
        persons = [
            Person(Visitor(client, organization, device), CustomerId(f"c-{number}"))
            for number, device in enumerate(devices)
        ]
        sides.append(Telling(client, database, organization, persons))
    for side, person, act in steps:
        await sides[side].act(sides[side].persons[person], act)
    for telling in sides:
        events = await read_all(database, telling.organization.id)
        assert [key_of(event) for event in events] == [key for _, key in telling.expected]
        assert len({event.id for event in events}) == len(events)
