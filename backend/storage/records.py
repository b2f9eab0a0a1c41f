"""What leads, conversions and events have in common: who, when, where from."""

from __future__ import annotations

from typing import Any

from pymongo import IndexModel

from backend.domain.attribution import Touch
from backend.domain.intake import Record, call_key
from backend.storage.calls import call_id
from backend.storage.collection import AgesFrom
from backend.storage.mongo import Document

INDEXES = [
    IndexModel([("org_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("customer_id", 1)]),
]
TOUCHES = ("first_touch", "touch")
RETENTION = AgesFrom("received_at")


def document(record: Record) -> Document:
    """A record as it is stored.

    `at` is the time that counts; `occurred_at` is what the browser's clock said.
    """
    batch, call = record.batch, record.call
    return {
        "_id": call_id(call_key(batch, call)),
        "org_id": batch.org_id,
        "device_id": batch.device_id,
        "customer_id": record.customer_id,
        "at": record.at,
        "occurred_at": call.occurred_at,
        "received_at": batch.received_at,
        "page": call.page,
        "first_touch": _touch(record.first_touch),
        "touch": _touch(record.touch),
        "expires_at": batch.expires_at,
        **call.fields,
    }


def _touch(touch: Touch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    return {"at": touch.at, "link_id": touch.link_id, "utm": touch.utm, "click_ids": touch.click_ids}
