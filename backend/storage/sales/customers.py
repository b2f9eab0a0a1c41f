"""Finds the customers of leads and sales: the customer that a record names, else the owner of its device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.told_facts import SaleFacts
from backend.storage.driver.mongo import Database
from backend.storage.visitors import devices

_DEVICE_FIELDS = dict.fromkeys(("device_id", "last_seen_at", "customers"), 1)
_DEVICES_PER_QUERY = 2_000


async def customers_of(
    database: Database, org_id: OrgId, records: Sequence[Mapping[str, Any]]
) -> list[CustomerId | None]:
    """The customer of each of these stored leads or sales; None where it is not known."""
    histories = await _histories(database, org_id, (record.get("device_id") for record in records))
    return [_customer_of(record, histories) for record in records]


def _customer_of(record: Mapping[str, Any], histories: Mapping[DeviceId, History[None]]) -> CustomerId | None:
    at, device_id, told_customer = record["at"], record.get("device_id"), record.get("customer_id")
    facts = SaleFacts[None](at, at, device_id, told_customer)
    return customer_of(facts, histories.get(device_id) if device_id else None)


async def _histories(
    database: Database, org_id: OrgId, device_ids: Iterable[DeviceId | None]
) -> dict[DeviceId, History[None]]:
    """The customers of each of these devices over time."""
    own_ids = [devices.own_id(org_id, device_id) for device_id in {*device_ids} if device_id]
    histories: dict[DeviceId, History[None]] = {}
    for begin in range(0, len(own_ids), _DEVICES_PER_QUERY):
        query = {"_id": {"$in": own_ids[begin : begin + _DEVICES_PER_QUERY]}}
        async for device in database[devices.NAME].find(query, _DEVICE_FIELDS):
            histories[device["device_id"]] = devices.owners_of(device)
    return histories
