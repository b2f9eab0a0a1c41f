"""Records are credited out of the database as the pure function credits them."""

from __future__ import annotations

import asyncio
import gc
import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import pytest
from bson import Decimal128

from backend.domain.analytics_input import UTC_ZONE
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.attribution import Credit, Device, DirectVisit, Touch
from backend.domain.calls import Kind
from backend.domain.credit import Credited, kept_credit, share_credit
from backend.domain.credit_rules import CreditRules, CreditTo, Model
from backend.domain.histories import RefundFact, SaleFacts
from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.intake import Identity
from backend.domain.query_period import QueryPeriod
from backend.domain.records import Record
from backend.domain.tellings import Telling
from backend.storage import conversions, devices, identities, records
from backend.storage.analytics_answers import answer
from backend.storage.credited_records import CreditedRecord, credit_records
from backend.storage.histories import HistoryReader
from backend.storage.mongo import Database, Document

START = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS = ("link_id", "utm.utm_campaign", "variant")
CUSTOMERS = (CustomerId("ada"), CustomerId("bob"), CustomerId("eve"))
RULES = [
    CreditRules(*chosen) for chosen in product(CreditTo, Model, [None, 2], [None, START + timedelta(days=3)])
]
# Seconds of work of the loop's thread at once. Giving credit in it took 0.4.
LONGEST = 0.1
Sold = tuple[Record, tuple[RefundFact, ...]]
# Of each sale, which is known by its amount: whose it is, what was paid back, and what each touch gets.
Shares = dict[int, tuple[CustomerId | None, int, list[tuple[Any, ...]]]]


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


def device(made: Random, org_id: OrgId, number: int) -> Device:
    """With touches, direct visits and identities, some told late or taken back, and a list that was cut."""
    own_id = DeviceId(f"{uuid.UUID(int=number)}")
    found = Device(org_id, own_id, START, at(made.randint(0, 99)))
    for each in range(made.randint(0, 9)):
        hour, customer_id = 6 * made.randint(0, 24), made.choice(CUSTOMERS)
        told = made.choice([at(hour + made.choice([0, 30])), None])
        match made.randint(0, 6):
            case 0 | 1:
                utm = {"utm_campaign": f"c{made.randint(0, 3)}", "utm_source": "s"} if each % 2 else {}
                found = found.touched(Touch(at(hour), LinkId(f"{number}-{each}"), utm, {}, told, "A"))
            case 2 | 3:
                # A click that a server named, and a visit that it led to.
                click = (at(hour - 1 if each % 2 else hour), number)
                found = found.touched(Touch(at(hour), LinkId("l"), {}, {"gclid": "g"}, told, None, *click))
            case 4:
                found = found.visited(DirectVisit(at(hour), told))
            case 5:
                found = found.identified(customer_id, at(hour), told)
            case 6:
                found = found.taken_back(customer_id, at(hour))
    return replace(found, touches=found.touches[-3:])


def sale(made: Random, known: list[Device], number: int) -> Sold:
    """Of a device, a customer or both, with copies of touches, and refunded now and then."""
    hour, own = 6 * made.randint(0, 24), made.choice([None, *known])
    kept = kept_credit(SaleFacts(at(hour), at(hour), own.id if own else None, None), own)
    if made.randint(0, 2) == 0:  # one that the device's list has no more, or that a server named
        kept = replace(kept, last=Touch(at(hour - 1), LinkId("gone"), {}, {}))
    record = Record(
        kind=Kind.CONVERSION,
        org_id=known[0].org_id,
        call_id=CallId(str(number)),
        tellings=tuple(tellings(made, own, known, hour)),
        credit=kept if own else Credit(),
        page=None,
        fields={"currency": "EUR", "revenue": Decimal(number).scaleb(-2)},
    )
    return record, tuple(RefundFact(at(hour + 40 * each), number // 3) for each in range(made.randint(0, 2)))


def tellings(made: Random, own: Device | None, known: list[Device], hour: float) -> Iterable[Telling[Touch]]:
    """What was told of a sale of this device, sometimes once more, with a click, or of another device."""
    told_at = at(hour + made.choice([0, 40]))
    own_id, customer_id = own.id if own else None, made.choice([None, *CUSTOMERS])
    yield Telling(told_at, at(hour), own_id, customer_id, own is None, None, at(hour))
    if made.randint(0, 2) == 0:
        click = (at(hour - 12), made.choice([1, 2]))
        visit = Touch(
            click[0], LinkId("l"), {}, {}, told_at + timedelta(hours=9), None, *click, is_named=True
        )
        other = own_id or made.choice(known).id
        told = made.choice([None, visit])
        yield Telling(told_at + timedelta(hours=9), at(hour - 1), other, made.choice(CUSTOMERS), True, told)


def facts(record: Record, refunds: tuple[RefundFact, ...], rules: CreditRules) -> SaleFacts[Touch]:
    """What the pure function is told of a sale."""
    amount = int(100 * record.fields["revenue"])
    return record.facts_known(rules)._replace(amount=amount, refunds=refunds)


def document(record: Record, refunds: tuple[RefundFact, ...]) -> Document:
    """A sale as it is stored."""
    paid_back = [
        {"received_at": each.received_at, "amount": Decimal128(Decimal(each.amount).scaleb(-2))}
        for each in refunds
    ]
    return records.document(record, None) | ({"refunds": paid_back} if paid_back else {})


def identity(of: Device, customer_id: CustomerId) -> Document:
    """As it is stored."""
    own_id = identities.own_id(Identity(of.org_id, of.id, customer_id, START, {}))
    whose = {"_id": own_id, "org_id": of.org_id, "device_id": of.id, "customer_id": customer_id}
    return whose | {"first_at": START, "last_at": of.last_seen_at}


def expected(credited: Iterable[Credited[Touch]]) -> Shares:
    """What the pure function says, with what is asked of each touch."""
    found: Shares = {}
    for customer_id, amount, refunded, shares in credited:
        said = [(share.touch and _asked_of(share.touch), *share[1:]) for share in shares]
        if said:
            found[amount] = (customer_id, refunded, said)
    return found


def _asked_of(touch: Touch) -> tuple[Any, ...]:
    return touch.link_id, touch.utm.get("utm_campaign"), touch.variant


async def store(database: Database, known: list[Device], sold: list[Sold]) -> None:
    """Store these devices, the customers that they were, and these sales."""
    named = [identity(each, name) for each in known for name in {one.customer_id for one in each.customers}]
    await database[devices.NAME].insert_many([devices.document(each) for each in known])
    await database[identities.NAME].insert_many(named)
    await database[conversions.NAME].insert_many([document(*each) for each in sold])


@pytest.mark.parametrize("seed", range(2))
async def test_what_is_stored_gets_the_credit_of_the_pure_function(database: Database, seed: int) -> None:
    """By all rules, for histories with late, wrong and cut lists, and copies that only the sale has."""
    made, org_id = Random(seed), OrgId(str(uuid.uuid4()))
    known = [device(made, org_id, number) for number in range(6)]
    sold = [sale(made, known, number) for number in range(1, 40)]
    await store(database, known, sold)
    for rules in RULES:
        found: Shares = {}

        def add(credited: Iterable[CreditedRecord], found: Shares = found) -> None:
            for each in credited:
                customer_id, amount, refunded, shares = each.credited
                found[amount] = (customer_id, refunded, [tuple(share) for share in shares])

        await credit_records(HistoryReader(database, org_id, rules, FIELDS), conversions.NAME, {}, add)
        assert found == expected(share_credit((facts(*each, rules) for each in sold), known, rules)), rules


async def test_a_report_does_not_hold_the_event_loop(database: Database) -> None:
    """Whoever else is served by the process goes on while thousands of sales get their credit."""
    made, org_id = Random(1), OrgId(str(uuid.uuid4()))
    known = [device(made, org_id, number) for number in range(500)]
    await store(database, known, [sale(made, known, number) for number in range(1, 3_000)])
    query = Query(
        period=QueryPeriod(START - timedelta(days=30), START + timedelta(days=30), UTC_ZONE),
        measures=(Measure.CONVERSIONS, Measure.REVENUE, Measure.CUSTOMERS),
        group_by=(Field.CAMPAIGN, Field.DAY),
        currency="EUR",
        rules=CreditRules(CreditTo.CUSTOMER, Model.LINEAR),
    )
    # Looking for garbage takes a thread's time too: at what is here already, nobody looks again.
    gc.collect()
    gc.freeze()
    asked = asyncio.create_task(answer(database, org_id, query, is_whole=True))
    longest, began = 0.0, time.thread_time()
    while not asked.done():
        await asyncio.sleep(0.001)
        longest, began = max(longest, time.thread_time() - began), time.thread_time()
    assert (await asked).rows
    assert longest < LONGEST
