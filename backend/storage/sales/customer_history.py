"""Reads what is known of a customer: visits of the customer's devices, leads, sales and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial

from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.records import Record
from backend.domain.sales.refunds import Refund, refunded
from backend.domain.visitors.attribution import Device, Touch
from backend.domain.visitors.calls import Kind
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.links import find_links
from backend.storage.sales import conversions, leads
from backend.storage.sales.refunds import refunds_of
from backend.storage.visitors import events, identities
from backend.storage.visitors.kept import Kept, kept_by
from backend.storage.visitors.records import RETENTION, record_of

# The latest of each kind of record; a customer with more has most likely been given to many persons.
MOST_RECORDS = 300
_KINDS = {Kind.LEAD: leads.NAME, Kind.CONVERSION: conversions.NAME, Kind.EVENT: events.NAME}
_RULES = CreditRules()


@dataclass(frozen=True, slots=True)
class CustomerVisit:
    """A visit of one of the customer's devices."""

    device_id: DeviceId
    touch: Touch


@dataclass(frozen=True, slots=True)
class CustomerHistory:
    """What is known of a customer. Records have no order; sales have their refunds beside them.

    `identified` has each device with the time from which on it was the customer's. `has_more` says whether
    older records were left out.
    """

    customer_id: CustomerId
    identified: Sequence[tuple[datetime, DeviceId]]
    visits: Sequence[CustomerVisit]
    records: Sequence[Record]
    refunds: Mapping[CallId, Sequence[Refund]]
    links: Mapping[LinkId, Link]
    has_more: bool

    @property
    def revenue(self) -> dict[str, Decimal]:
        """What the customer paid, less what was paid back, by currency."""
        sums: dict[str, Decimal] = {}
        for record in self.records:
            if record.kind is Kind.CONVERSION:
                currency, revenue = record.fields["currency"], record.fields["revenue"]
                paid_back = refunded(self.refunds_of(record), currency, revenue)
                sums[currency] = sums.get(currency, Decimal()) + revenue - paid_back
        return sums

    def refunds_of(self, record: Record) -> Sequence[Refund]:
        """What was paid back of a sale."""
        return self.refunds.get(record.call_id, ())


async def find_customer_history(
    database: Database, org_id: OrgId, customer_id: CustomerId, now: datetime
) -> CustomerHistory | None:
    """What the organization knows of this customer, in one snapshot; None if it knows nothing.

    What it no longer keeps at this time is left out.
    """
    kept = await kept_by(database, org_id, now)
    async with await database.client.start_session(snapshot=True) as session:
        read = partial(_read, session=session.delegate, org_id=org_id, customer_id=customer_id, kept=kept)
        own_devices, documents = await in_thread(database, read)
    identified = [
        (identification.at, device.id)
        for device in own_devices.values()
        for identification in device.customers
        if identification.holds and identification.customer_id == customer_id
    ]
    records, refunds, has_more = _records_of(documents, own_devices, customer_id)
    if not identified and not records:
        return None
    visits = [visit for device in own_devices.values() for visit in _visits(device, customer_id)]
    touches = [*(visit.touch for visit in visits), *(record.credit.last for record in records)]
    links = await find_links(
        database, {touch.link_id for touch in touches if touch and touch.link_id}, org_id
    )
    return CustomerHistory(customer_id, sorted(identified), visits, records, refunds, links, has_more)


async def is_customer_known(
    database: Database, org_id: OrgId, customer_id: CustomerId, now: datetime
) -> bool:
    """Whether a device, a lead, a sale or an event that is kept at this time is this customer's."""
    return await find_customer_history(database, org_id, customer_id, now) is not None


def _read(
    database: BlockingDatabase, session: BlockingSession, org_id: OrgId, customer_id: CustomerId, kept: Kept
) -> tuple[dict[DeviceId, Device], dict[Kind, list[Document]]]:
    """The customer's devices, and the latest records of the customer and of these devices."""
    found = kept.devices(identities.counting_devices(database, session, org_id, customer_id))
    conditions: list[Document] = [{"org_id": org_id, "customer_id": customer_id}]
    if found:
        conditions.append({"org_id": org_id, "device_id": {"$in": list(found)}})
    any_of = {"$or": conditions} | kept.condition(RETENTION)
    documents = {
        kind: list(database[name].find(any_of, session=session).sort("at", -1).limit(MOST_RECORDS + 1))
        for kind, name in _KINDS.items()
    }
    return found, documents


def _records_of(
    documents: Mapping[Kind, Sequence[Document]],
    own_devices: Mapping[DeviceId, Device],
    customer_id: CustomerId,
) -> tuple[list[Record], dict[CallId, Sequence[Refund]], bool]:
    """Those records that are the customer's, refunds by the call of their sale, and whether more exist."""
    histories = {device.id: History.of_device(device, _RULES) for device in own_devices.values()}
    records: list[Record] = []
    refunds: dict[CallId, Sequence[Refund]] = {}
    for kind, of_kind in documents.items():
        for document in of_kind[:MOST_RECORDS]:
            record = record_of(kind, document)
            history = histories.get(record.device_id) if record.device_id else None
            if customer_of(record.facts(), history) == customer_id:
                records.append(record)
                refunds[record.call_id] = refunds_of(document)
    return records, refunds, any(len(of_kind) > MOST_RECORDS for of_kind in documents.values())


def _visits(device: Device, customer_id: CustomerId) -> list[CustomerVisit]:
    """The visits of the device while it was the customer's, or before it was anybody's."""
    history = History.of_device(device, _RULES)
    touches = device.touches
    if device.first_touch and device.first_touch not in touches:
        touches = (device.first_touch, *touches)
    return [CustomerVisit(device.id, touch) for touch in touches if history.owner_at(touch.at) == customer_id]
