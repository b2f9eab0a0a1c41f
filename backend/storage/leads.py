"""The `leads` collection; an event_id counts once (storage/counted_once)."""

from __future__ import annotations

from backend.storage import records

NAME = "leads"
INDEXES = records.INDEXES
document = records.document
