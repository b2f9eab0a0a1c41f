"""Finds whose leads and sales are: the customer they were told of, else the one whose their device was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.histories import History, SaleFacts, customer_of
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.visitors import devices

# Parts of a $group stage, by which records stay together that were told of nobody and are of one device, with
# their times.
GROUPED_BY: Document = {
    "customer_id": "$customer_id",
    "device_id": {"$cond": ["$customer_id", None, "$device_id"]},
}
_IS_OF_DEVICE = {"$and": ["$device_id", {"$not": ["$customer_id"]}]}
TIMES: Document = {"times": {"$addToSet": {"$cond": [_IS_OF_DEVICE, "$at", None]}}}
_OF_DEVICE = dict.fromkeys(("device_id", "last_seen_at", "customers"), 1)
_AT_ONCE = 2_000


async def customers_of(
    database: Database, org_id: OrgId, records: Sequence[Mapping[str, Any]]
) -> list[CustomerId | None]:
    """Whose each of these stored leads or sales is; None if that is not known."""
    known = await _histories(database, org_id, (each.get("device_id") for each in records), None)
    return [_customer_of(each, known) for each in records]


async def name_customers(
    database: Database, org_id: OrgId, groups: Sequence[Document], session: ClientSession | None = None
) -> None:
    """Give these groups of records, by GROUPED_BY and with TIMES, the customers whose they are."""
    known = await _histories(database, org_id, (each["_id"].get("device_id") for each in groups), session)
    for each in groups:
        each["customers"] = set(_customers_in(each["_id"], each.pop("times"), known))


def _customers_in(
    of: Mapping[str, Any], times: Iterable[datetime | None], known: Mapping[DeviceId, History[None]]
) -> Iterator[CustomerId]:
    if of.get("customer_id"):
        yield of["customer_id"]
    elif history := known.get(of.get("device_id") or DeviceId("")):
        yield from (owner for at in times if at and (owner := history.owner_at(at)))


def _customer_of(record: Mapping[str, Any], known: Mapping[DeviceId, History[None]]) -> CustomerId | None:
    at, device_id, told = record["at"], record.get("device_id"), record.get("customer_id")
    facts = SaleFacts[None](at, at, device_id, told)
    return customer_of(facts, known.get(device_id) if device_id else None)


async def _histories(
    database: Database,
    org_id: OrgId,
    device_ids: Iterable[DeviceId | None],
    session: ClientSession | None,
) -> dict[DeviceId, History[None]]:
    """From when each of these devices was which customer's."""
    own_ids = [devices.own_id(org_id, each) for each in {*device_ids} if each]
    found: dict[DeviceId, History[None]] = {}
    for begin in range(0, len(own_ids), _AT_ONCE):
        some = {"_id": {"$in": own_ids[begin : begin + _AT_ONCE]}}
        async for each in database[devices.NAME].find(some, _OF_DEVICE, session=session):
            found[each["device_id"]] = devices.owners_of(each)
    return found
