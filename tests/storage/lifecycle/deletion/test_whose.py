"""Access and erasure reach what all other answers say is a customer's, in every order of telling."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.sales.batches import store_batches
from backend.storage.sales.customers import customers_of
from backend.storage.sales.sale_explanation import explain_sale
from backend.storage.visitors import devices
from backend.storage.visitors.identities import take_back
from backend.system.clock import utc_now
from tests.domain.sales.shelf import START
from tests.domain.sales.told_facts import CUSTOMERS, ORDERS, TOLD_FROM, Fact, histories, numbered, orders
from tests.examples import examples
from tests.facts.feeds import is_erasure
from tests.storage.lifecycle.deletion.test_erasure import everything

RECORDS = ("leads", "conversions", "events")
SERVER: dict[str, Any] = {"is_server": True}


@dataclass(frozen=True, slots=True)
class Answers:
    """What is said to be whose (None: nobody's): records by id, sales by order, visits by device and time."""

    records: dict[str, CustomerId | None]
    explained: dict[str, CustomerId | None]
    visits: dict[str, CustomerId | None]

    def of(self, customer_id: CustomerId) -> set[str]:
        """The ids of records, and the visits, of a customer."""
        return {key for key, owner in (self.records | self.visits).items() if owner == customer_id}

    def without(self, customer_id: CustomerId) -> Answers:
        """The same without what is the customer's."""
        records, explained, visits = (
            {key: owner for key, owner in some.items() if owner != customer_id}
            for some in (self.records, self.explained, self.visits)
        )
        return Answers(records, explained, visits)


async def tell(database: Database, org_id: OrgId, facts: Sequence[Fact]) -> None:
    """Tell these facts in their order, an hour after each other."""
    for hour, fact in enumerate(facts):
        told_at = START + TOLD_FROM + timedelta(hours=hour)
        if fact.is_call:
            await store_batches(database, [replace(fact.batch(told_at), org_id=org_id)])
        elif fact.what == "take_back":
            device, customer = DeviceId(str(fact.device)), CustomerId(str(fact.customer))
            await take_back(database, org_id, device, customer, told_at)


async def answers(database: Database, org_id: OrgId) -> Answers:
    """What lists of sales, explanations and credit say."""
    documents = [found for name in RECORDS async for found in database[name].find({"org_id": org_id})]
    owners = await customers_of(database, org_id, documents)
    explained = {
        order: sale.explanation.verdict.customer_id
        for order in ORDERS
        if (sale := await explain_sale(database, org_id, order, CreditRules(), utc_now()))
    }
    stored = [devices.from_document(found) async for found in database[devices.NAME].find({"org_id": org_id})]
    visits = {
        f"{device.id} {at}": History.of_device(device, CreditRules()).owner_at(at)
        for device in stored
        for at in [visit.at for visit in device.touches] + [visit.at for visit in device.direct_visits]
    }
    by_id = {found["_id"]: owner for found, owner in zip(documents, owners, strict=True)}
    return Answers(by_id, explained, visits)


async def exported(database: Database, org_id: OrgId, customer_id: CustomerId) -> list[str]:
    """The ids of records, and the visits, in a customer's file."""
    found: list[str] = []
    async for name, document in export_subject(database, org_id, Subject(customer_id=customer_id)):
        if name in RECORDS:
            found.append(document["_id"])
        if name == devices.NAME:
            visits = (*document["touches"], *document["direct_visits"])
            found += [f"{document['device_id']} {visit['at']}" for visit in visits]
    return found


def names_in(documents: dict[str, list[Document]], customer_id: CustomerId) -> list[str]:
    """The collections that name the customer, but for what tells readers of the feed to erase."""
    return [
        name
        for name, some in documents.items()
        if any(f": {customer_id!r}" in str(found) for found in some if not is_erasure(found))
    ]


# Every checkout: a page says who a guest is, and the server who it was.
REPLACED = numbered(
    Fact("visit", 0, "d"),
    Fact("event", 1, "d"),
    Fact("conversion", 2, "d", "x", "t"),
    Fact("conversion", 2, "d", "y", "t", **SERVER),
)
# Somebody else signed in by mistake.
TAKEN_BACK = numbered(
    Fact("identify", 0, "d", "y"),
    Fact("conversion", 2, "d", "x", "t"),
    Fact("event", 3, "d"),
    Fact("take_back", 9, "d", "x"),
)


@given(facts=histories(most=7), chance=st.randoms(use_true_random=False))
@example(facts=REPLACED, chance=random.Random(1))
@example(facts=TAKEN_BACK, chance=random.Random(1))
@settings(max_examples=examples(8))
async def test_access_and_erasure_agree_with_all_other_answers(
    database: Database, facts: list[Fact], chance: random.Random
) -> None:
    """A file has what is the customer's and nothing else. That is what goes, and the rest stays others'."""
    org_id = OrgId(str(uuid.uuid4()))
    await tell(database, org_id, chance.choice(orders(facts)))
    said = await answers(database, org_id)
    for name in CUSTOMERS:
        found = await exported(database, org_id, CustomerId(name))
        assert set(found) == said.of(CustomerId(name))
        assert len(said.records.keys() & set(found)) == len([key for key in found if key in said.records])
    gone = CustomerId(chance.choice(CUSTOMERS))
    await erase_subject(database, org_id, Subject(customer_id=gone), most=chance.choice([1, 2, 500]))
    assert await answers(database, org_id) == said.without(gone)
    assert names_in(await everything(database, org_id), gone) == []
    assert [found async for found in export_subject(database, org_id, Subject(customer_id=gone))] == []
