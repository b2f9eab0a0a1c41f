"""What leads, conversions and events have in common: who, when, where from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel

from backend.domain.attribution import Device, Touch
from backend.domain.batches import Batch, CountedCall
from backend.storage.calls import call_key
from backend.storage.mongo import Document

INDEXES = [
    IndexModel([("org_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("customer_id", 1)]),
    IndexModel("expires_at", expireAfterSeconds=0),
]


def document(batch: Batch, counted: CountedCall, device: Device) -> Document:
    """A record of a call, with the device's touches and customer that hold at its moment.

    `at` is the time that counts; `occurred_at` is what the browser's clock said.
    """
    call = counted.call
    return {
        "_id": call_key(batch.org_id, call.call_id),
        "org_id": batch.org_id,
        "device_id": batch.device_id,
        "customer_id": call.customer_id or device.customer_at(counted.at),
        "at": counted.at,
        "occurred_at": call.occurred_at,
        "received_at": batch.received_at,
        "page": call.page,
        "first_touch": _touch(device.first_touch_at(counted.at)),
        "touch": _touch(device.last_touch_at(counted.at)),
        "expires_at": expiry(batch),
        **call.fields,
    }


def expiry(batch: Batch) -> datetime | None:
    """When what this batch brings is to be forgotten."""
    days = batch.retention_days
    return None if days is None else batch.received_at + timedelta(days=days)


def _touch(touch: Touch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    return {"at": touch.at, "link_id": touch.link_id, "utm": touch.utm, "click_ids": touch.click_ids}
