"""The `events` collection: custom events."""

from __future__ import annotations

from backend.storage import records

NAME = "events"
INDEXES = records.INDEXES
document = records.document
