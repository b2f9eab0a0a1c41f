"""Finds the customers of leads and sales: the customer that a record names, else the owner of its device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.histories import History, SaleFacts, customer_of
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.visitors import devices

# Parts of a $group stage. Records without a customer are grouped by device, and keep their times.
GROUPED_BY: Document = {
    "customer_id": "$customer_id",
    "device_id": {"$cond": ["$customer_id", None, "$device_id"]},
}
_IS_OF_DEVICE = {"$and": ["$device_id", {"$not": ["$customer_id"]}]}
TIMES: Document = {"times": {"$addToSet": {"$cond": [_IS_OF_DEVICE, "$at", None]}}}
_DEVICE_FIELDS = dict.fromkeys(("device_id", "last_seen_at", "customers"), 1)
_DEVICES_PER_QUERY = 2_000


async def customers_of(
    database: Database, org_id: OrgId, records: Sequence[Mapping[str, Any]]
) -> list[CustomerId | None]:
    """The customer of each of these stored leads or sales; None where it is not known."""
    histories = await _histories(database, org_id, (record.get("device_id") for record in records), None)
    return [_customer_of(record, histories) for record in records]


async def name_customers(
    database: Database, org_id: OrgId, groups: Sequence[Document], session: ClientSession | None = None
) -> None:
    """Add `customers` to these groups, which a $group stage made by GROUPED_BY and with TIMES."""
    histories = await _histories(
        database, org_id, (group["_id"].get("device_id") for group in groups), session
    )
    for group in groups:
        group["customers"] = set(_customers_in(group["_id"], group.pop("times"), histories))


def _customers_in(
    record_group: Mapping[str, Any],
    times: Iterable[datetime | None],
    histories: Mapping[DeviceId, History[None]],
) -> Iterator[CustomerId]:
    if record_group.get("customer_id"):
        yield record_group["customer_id"]
    elif history := histories.get(record_group.get("device_id") or DeviceId("")):
        yield from (owner for at in times if at and (owner := history.owner_at(at)))


def _customer_of(record: Mapping[str, Any], histories: Mapping[DeviceId, History[None]]) -> CustomerId | None:
    at, device_id, told_customer = record["at"], record.get("device_id"), record.get("customer_id")
    facts = SaleFacts[None](at, at, device_id, told_customer)
    return customer_of(facts, histories.get(device_id) if device_id else None)


async def _histories(
    database: Database,
    org_id: OrgId,
    device_ids: Iterable[DeviceId | None],
    session: ClientSession | None,
) -> dict[DeviceId, History[None]]:
    """The customers of each of these devices over time."""
    own_ids = [devices.own_id(org_id, device_id) for device_id in {*device_ids} if device_id]
    histories: dict[DeviceId, History[None]] = {}
    for begin in range(0, len(own_ids), _DEVICES_PER_QUERY):
        query = {"_id": {"$in": own_ids[begin : begin + _DEVICES_PER_QUERY]}}
        async for device in database[devices.NAME].find(query, _DEVICE_FIELDS, session=session):
            histories[device["device_id"]] = devices.owners_of(device)
    return histories
