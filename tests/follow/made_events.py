"""Events of every type, with data as the feed gives it, for tests of what becomes of them."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId

ORG = OrgId(str(uuid.uuid4()))
AT = datetime(2026, 5, 6, 12, tzinfo=UTC)
_places = itertools.count(1)


def event(type_: EventType, at: datetime = AT, **data: Any) -> Event:
    """An event, behind all that were made before."""
    place = next(_places)
    return Event(f"{uuid.uuid4().hex}-0", type_, at, ORG, data, Cursor(place, 1))


def conversion(at: datetime = AT, **data: Any) -> Event:
    """A sale of 59.90 EUR."""
    usual = {
        "id": str(uuid.uuid4()),
        "told_by": "server",
        "told_again": False,
        "customer_id": None,
        "device_id": None,
        "transaction_id": "order-1042",
        "revenue": "59.90",
        "currency": "EUR",
        "metadata": {"color": "red"},
        "link_id": None,
        "touch": None,
    }
    return event(EventType.CONVERSION, at, **usual | data)


def refund(of: Event, **data: Any) -> Event:
    """A refund of a sale."""
    usual = {"id": "refund-1", "conversion_id": of.data["id"], "amount": "9.90", "currency": "EUR"}
    return event(EventType.REFUND, **usual | data)


def erased(**data: Any) -> Event:
    """Somebody was erased."""
    nobody: dict[str, list[Any]] = {
        "customers": [], "devices": [], "shared_devices": [], "emails_sha256": [], "installs": [],
    }  # fmt: skip
    return event(EventType.ERASED, **nobody | data)


def event_ids(events: Sequence[Event]) -> list[str]:
    """The ids of these events."""
    return [event.id for event in events]
