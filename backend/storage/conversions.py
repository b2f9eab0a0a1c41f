"""The `conversions` collection; a transaction_id counts once (storage/counted_once)."""

from __future__ import annotations

from bson import Decimal128
from pymongo import IndexModel

from backend.domain.attribution import Device
from backend.domain.batches import Batch, CountedCall
from backend.storage import records
from backend.storage.mongo import Document

NAME = "conversions"
INDEXES = [
    *records.INDEXES,
    IndexModel(
        [("org_id", 1), ("transaction_id", 1)],
        unique=True,
        partialFilterExpression={"transaction_id": {"$type": "string"}},
    ),
]


def document(batch: Batch, counted: CountedCall, device: Device) -> Document:
    """The record of a conversion; its revenue is an exact decimal in major units."""
    revenue = Decimal128(counted.call.fields["revenue"])
    return records.document(batch, counted, device) | {"revenue": revenue}
