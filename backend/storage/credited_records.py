"""Gives leads and conversions their credit as they are read (domain/credit)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from bson import Decimal128

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.attribution import Device
from backend.domain.credit import (
    MOST_DEVICES,
    PARTS,
    Credited,
    CreditRules,
    CreditTo,
    RefundFact,
    SaleFacts,
    customer_of,
    share_credit,
)
from backend.domain.ids import DeviceId, OrgId
from backend.domain.money import MINOR_DIGITS
from backend.storage import devices, identities, records, refunds
from backend.storage.mongo import ClientSession, Database, Document

_AT_ONCE = 2_000
_OF_TOUCHES = ("at", "link_id", "utm", "received_at", "variant", *records.CLICK_FIELDS)
# No more than that: reading what is stored takes most of the time.
_FIELDS = (
    *("at", "received_at", "device_id", "customer_id", "currency", "revenue", refunds.FIELD),
    *(f"{touch}.{name}" for touch in records.TOUCHES for name in _OF_TOUCHES),
)


@dataclass(frozen=True, slots=True)
class CreditedRecord:
    """A lead or conversion with its credit. `currency` is None for a lead.

    Amounts of the credit's shares are in units of ten to the power of minus `digits`.
    """

    at: datetime
    currency: str | None
    digits: int
    credited: Credited

    def amount(self, units: int) -> Decimal:
        """An amount of a share in the currency's main unit."""
        return Decimal(units).scaleb(-self.digits)


def count_of(parts: int) -> Decimal:
    """So many parts of leads or conversions as a number of them."""
    return Decimal(parts) / PARTS


@dataclass(frozen=True, slots=True)
class _Asked:
    database: Database
    session: ClientSession | None
    org_id: OrgId
    rules: CreditRules
    names_ads: bool = False


async def credited_records(
    database: Database,
    collection: str,
    scope: Document,
    rules: CreditRules,
    session: ClientSession | None = None,
) -> AsyncIterator[Sequence[CreditedRecord]]:
    """The leads or conversions that a query finds, some thousand at once.

    `scope`, the query, names an organization (`org_id`).

    What was not told yet by the rules' moment is left out.
    """
    asked = _Asked(database, session, scope["org_id"], rules)
    # In an order in which what a customer did stands together, so that a device is read once or twice.
    cursor = (
        database[collection]
        .find(scope, _FIELDS, session=session)
        .sort([("customer_id", 1), ("device_id", 1)])
        .allow_disk_use(True)
        .batch_size(_AT_ONCE)
    )
    while found := await cursor.to_list(_AT_ONCE):
        sales = await beside_the_loop(partial(_sales, found))
        known = await _devices_of(asked, sales)
        yield await beside_the_loop(partial(_credited, found, sales, known, rules))


async def histories_of(
    database: Database, session: ClientSession, org_id: OrgId, sale: SaleFacts, rules: CreditRules
) -> list[Device]:
    """The devices of a sale and of its customer, their touches with ad click ids."""
    by_customer = replace(rules, to=CreditTo.CUSTOMER)
    return await _devices_of(_Asked(database, session, org_id, by_customer, names_ads=True), [sale])


def _credited(
    found: Sequence[Document], sales: Sequence[SaleFacts], known: Iterable[Device], rules: CreditRules
) -> list[CreditedRecord]:
    credits = share_credit(sales, known, rules)
    return [
        CreditedRecord(document["at"], document.get("currency"), digits_of(document), credited)
        for document, credited in zip(found, credits, strict=True)
        if credited.shares
    ]


async def _devices_of(asked: _Asked, sales: Sequence[SaleFacts]) -> list[Device]:
    """The devices of these sales, and where credit goes by customer those of their customers."""
    own = await _find(asked, {each.device_id for each in sales if each.device_id})
    if asked.rules.to is CreditTo.DEVICE:
        return list(own.values())
    customers = await beside_the_loop(partial(_customers, asked, sales, own))
    pipeline: list[Document] = [
        {"$match": {"org_id": asked.org_id, "customer_id": {"$in": list(customers)}, **_WITH_DEVICE}},
        {"$group": {"_id": "$customer_id", "devices": {"$topN": _LATEST}}},
    ]
    others: set[DeviceId] = set()
    async for found in asked.database[identities.NAME].aggregate(pipeline, session=asked.session):
        others.update(found["devices"])
    return [*own.values(), *(await _find(asked, others - own.keys())).values()]


_WITH_DEVICE: Document = {"device_id": {"$gt": ""}}
_LATEST = {"n": MOST_DEVICES, "sortBy": {"last_at": -1, "_id": 1}, "output": "$device_id"}


def _customers(asked: _Asked, sales: Sequence[SaleFacts], own: Mapping[DeviceId, Device]) -> set[str]:
    """Whose the sales are."""
    devices_of = ((sale, own.get(sale.device_id) if sale.device_id else None) for sale in sales)
    found = (customer_of(sale, device, asked.rules) for sale, device in devices_of)
    return {each for each in found if each is not None}


async def _find(asked: _Asked, device_ids: Iterable[DeviceId]) -> dict[DeviceId, Device]:
    found: dict[DeviceId, Device] = {}
    wanted = list(device_ids)
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        found |= await devices.find_histories(
            asked.database, asked.org_id, some, asked.session, names_ads=asked.names_ads
        )
    return found


def _sales(found: Sequence[Document]) -> list[SaleFacts]:
    return [sale_facts(each) for each in found]


def sale_facts(document: Mapping[str, Any]) -> SaleFacts:
    """What a record's document says. Amounts are in units of ten to the power of minus `digits_of` it."""
    return SaleFacts(
        document["at"],
        document.get("received_at", document["at"]),
        document.get("device_id"),
        document.get("customer_id"),
        records.touches_of(document),
        _units(document, document.get("revenue")),
        tuple(
            RefundFact(each["received_at"], _units(document, each["amount"]))
            for each in document.get(refunds.FIELD, ())
        ),
    )


def _units(document: Mapping[str, Any], stored: Decimal128 | None) -> int:
    """The amount in the smallest unit of the sale's currency."""
    return int(stored.to_decimal().scaleb(digits_of(document))) if stored is not None else 0


def digits_of(document: Mapping[str, Any]) -> int:
    """How many decimals the amount has: those of its currency, or more where it was stored so."""
    revenue = document.get("revenue")
    if revenue is None:
        return 0
    exponent: int = revenue.to_decimal().as_tuple().exponent
    return max(MINOR_DIGITS.get(document["currency"], 0), -exponent)
