"""The `leads` collection; an event_id counts once (storage/counted_once)."""

from __future__ import annotations

from pymongo import IndexModel

from backend.storage import records

NAME = "leads"
INDEXES = [*records.INDEXES, IndexModel([("org_id", 1), ("email_sha256", 1)])]
document = records.document
