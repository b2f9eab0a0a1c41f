"""Erasure after random histories: nothing of the person is left, and nothing of anyone else is gone."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from backend.domain.visitors.persons import Subject
from backend.domain.visitors.sources import Source
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales.batches import store_batches
from tests.examples import examples
from tests.facts.feeds import is_erasure, place_all

ADA, BOB = CustomerId("customer-ada"), CustomerId("customer-bob")
START = datetime(2026, 3, 1, tzinfo=UTC)
CUSTOMERS = (ADA, BOB, CustomerId("customer-cleo"))
EMAILS = tuple(hashlib.sha256(name.encode()).hexdigest() for name in ("ada", "bob", "cleo"))
DEVICES = tuple(str(uuid.UUID(int=number)) for number in range(3))
REVENUE = {"revenue": Decimal("1.00"), "currency": "EUR"}


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody did on a device, in the order of `number`; nobody else's data has its `mark`.

    Its browser tells of it, or a server if it `is_server`.
    """

    number: int
    device: str
    kind: Kind
    customer: CustomerId | None
    email: str | None
    is_server: bool = False

    @property
    def mark(self) -> str:
        """Stands in the page's address of records and in the ad click id of visits."""
        return f"mark-{self.number}-"

    def batch(self, org_id: OrgId) -> Batch:
        """The request that reports it."""
        at = START + timedelta(minutes=self.number)
        fields: dict[str, Any] = {"email_sha256": self.email} if self.email else {}
        fields |= REVENUE if self.kind is Kind.CONVERSION else {}
        call = Call(self.kind, CallId(str(uuid.uuid4())), at, self.mark, self.customer, fields)
        source = Source(click_ids={"gclid": self.mark}) if self.kind is Kind.ATTRIBUTION else None
        sent_at = None if self.is_server else at
        return Batch(org_id, DeviceId(self.device), sent_at, at, (ArrivedCall(call, source),))


@dataclass(frozen=True)
class History:
    """A naive model: whose each act is, by looking through all of them again and again."""

    acts: Sequence[Act]
    subject: Subject

    @cached_property
    def links(self) -> set[tuple[str, str]]:
        """Customers and the e-mail addresses that a server named together with them."""
        return {
            (act.customer, act.email) for act in self.acts if act.is_server and act.customer and act.email
        }

    @cached_property
    def customers(self) -> set[str]:
        """The person's customer ids."""
        named = {self.subject.customer_id} if self.subject.customer_id else set()
        return named | {customer for customer, email in self.links if email == self.subject.email_sha256}

    @cached_property
    def on_devices(self) -> set[tuple[str, str]]:
        """Devices with customers of whom their browsers told the address that was asked for."""
        return {
            (act.device, act.customer)
            for act in self.acts
            if act.customer and act.email and act.email == self.subject.email_sha256
        }

    @cached_property
    def emails(self) -> set[str]:
        """The person's e-mail addresses."""
        theirs = {email for customer, email in self.links if customer in self.customers}
        others = {email for customer, email in self.links if customer not in self.customers}
        return theirs - others | ({self.subject.email_sha256} if self.subject.email_sha256 else set())

    def owner(self, act: Act) -> str | None:
        """The customer whose the act is: whom it names, else the last before it, else the first after it."""
        named = [(other.number, other.customer) for other in self._of(act.device) if other.customer]
        before = [customer for number, customer in named if number <= act.number]
        return act.customer or next(iter([*reversed(before), *(customer for _, customer in named)]), None)

    def is_unclaimed(self, device: str) -> bool:
        """Whether the device is no customer's, and its first lead with an address is the person's."""
        emails = [act.email for act in self._of(device) if act.kind is Kind.LEAD and act.email]
        is_of_customer = any(act.customer for act in self._of(device))
        return not is_of_customer and bool(emails) and emails[0] in self.emails

    def is_theirs(self, act: Act) -> bool:
        """Whether the act, or the visit that it was, is the person's."""
        owner = self.owner(act)
        if owner in self.customers or (act.device, owner) in self.on_devices:
            return True
        if act.kind is Kind.LEAD and act.email:
            return act.email in self.emails and act.customer is None
        return self.is_unclaimed(act.device)

    def _of(self, device: str) -> list[Act]:
        return [act for act in self.acts if act.device == device]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """What three people did on three devices, some of which they share, and whom of them to erase."""
    acts = []
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(Kind))
        customer = draw(st.none() | st.sampled_from(CUSTOMERS))
        email = draw(st.none() | st.sampled_from(EMAILS))
        if kind is Kind.IDENTIFY:
            customer = customer or CUSTOMERS[0]
        if kind is Kind.ATTRIBUTION:
            customer = None
        if kind not in {Kind.LEAD, Kind.IDENTIFY}:
            email = None
        is_server = kind is not Kind.ATTRIBUTION and draw(st.booleans())
        acts.append(Act(number, draw(st.sampled_from(DEVICES)), kind, customer, email, is_server))
    by_customer = st.sampled_from(CUSTOMERS).map(lambda customer: Subject(customer_id=customer))
    by_email = st.sampled_from(EMAILS).map(lambda email: Subject(email_sha256=email))
    return History(acts, draw(by_customer | by_email))


async def everything(database: Database, org_id: OrgId) -> dict[str, list[Document]]:
    """All that the database has of an organization, by collection."""
    await place_all(database, org_id)  # else a service may do so between two looks
    names = [collection.name for collection in COLLECTIONS]
    first, *others = [_documents_of(org_id, name) for name in names]
    unions: list[Document] = [
        {"$unionWith": {"coll": name, "pipeline": stages}}
        for name, stages in zip(names[1:], others, strict=True)
    ]
    documents: dict[str, list[Document]] = {name: [] for name in names}
    async for found in database[names[0]].aggregate([*first, *unions]):
        documents[found["collection"]].append(found["document"])
    return documents


def _documents_of(org_id: OrgId, name: str) -> list[Document]:
    """What reads an organization's documents of a collection, each with its name."""
    return [
        {"$match": {"$or": [{"org_id": org_id}, {"_id": {"$regex": f"^{org_id}"}}]}},
        {"$sort": {"_id": 1}},
        {"$project": {"_id": 0, "collection": {"$literal": name}, "document": "$$ROOT"}},
    ]


def history(
    subject: Subject, *acts: tuple[int, str, CustomerId | None, str | None], is_server: bool = True
) -> History:
    """What happened, each with its device, kind, customer and e-mail address. Servers tell of customers."""
    return History(
        [
            Act(n, DEVICES[device], Kind(kind), customer, email, is_server and customer is not None)
            for n, (device, kind, customer, email) in enumerate(acts)
        ],
        subject,
    )


# Another's sale on a shared device has the touch, but not the ad click id, of the person's visit before it.
SOLD_AFTER_ANOTHERS_VISIT = history(
    Subject(customer_id=ADA),
    (0, "attribution", None, None),
    (0, "identify", ADA, None),
    (0, "identify", BOB, None),
    (0, "conversion", None, None),
)
# Two who are known from elsewhere leave their addresses on a device that is never identified.
LEADS_OF_TWO_ON_ONE_DEVICE = history(
    Subject(customer_id=ADA),
    (1, "identify", ADA, EMAILS[0]),
    (2, "identify", BOB, EMAILS[1]),
    (0, "lead", None, EMAILS[0]),
    (0, "lead", None, EMAILS[1]),
    (0, "event", None, None),
)
# An address that nobody was identified by is all that is known of a device and its ad click id.
ONLY_A_LEAD = history(
    Subject(email_sha256=EMAILS[2]), (0, "attribution", None, None), (0, "lead", None, EMAILS[2])
)
# An identity is known by e-mail only since its lead came.
LATER_KNOWN = history(
    Subject(email_sha256=EMAILS[0]),
    (0, "identify", ADA, None),
    (0, "event", None, None),
    (0, "lead", ADA, EMAILS[0]),
)

# Browsers said that strangers have an address: it joins nobody with them, and is nobody's but its owner's.
SAID_BY_STRANGERS = history(
    Subject(email_sha256=EMAILS[0]),
    (0, "identify", ADA, EMAILS[0]),
    (1, "identify", BOB, EMAILS[0]),
    (2, "conversion", BOB, None),
    (2, "conversion", ADA, None),
    is_server=False,
)


def kept_emails(contact: Document, history: History) -> list[str]:
    """The addresses of a contact without those of the person."""
    return [email for email in contact["emails_sha256"] if email not in history.emails]


@given(history=histories())
@example(history=SOLD_AFTER_ANOTHERS_VISIT)
@example(history=LEADS_OF_TWO_ON_ONE_DEVICE)
@example(history=ONLY_A_LEAD)
@example(history=LATER_KNOWN)
@example(history=SAID_BY_STRANGERS)
@settings(max_examples=examples(2))
async def test_erasure_is_complete_and_takes_nothing_else(database: Database, history: History) -> None:
    """No collection has anything of the person any more, and all have what is another's or elsewhere."""
    org_id, other_id = str(uuid.uuid4()), str(uuid.uuid4())
    for one_id in (org_id, other_id):
        await store_batches(database, [act.batch(OrgId(one_id)) for act in history.acts])
    before, elsewhere = await everything(database, OrgId(org_id)), await everything(database, OrgId(other_id))
    await erase_subject(database, OrgId(org_id), history.subject)
    after = await everything(database, OrgId(org_id))
    after["feed_entries"] = [entry for entry in after["feed_entries"] if not is_erasure(entry)]
    assert await everything(database, OrgId(other_id)) == elsewhere
    text = str(after)
    kept = [act for act in history.acts if act.kind is not Kind.IDENTIFY and not history.is_theirs(act)]
    assert [act for act in history.acts if act.mark in text] == kept
    assert [name for name in (*history.customers, *history.emails) if name in text] == []
    assert after["contacts"] == [
        contact | ({"emails_sha256": kept_emails(contact, history)} if "emails_sha256" in contact else {})
        for contact in before["contacts"]
        if contact["customer_id"] not in history.customers
        and (contact["device_id"], contact["customer_id"]) not in history.on_devices
    ]
    assert after["counted_once"] == before["counted_once"]
