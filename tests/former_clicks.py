"""Clicks as earlier versions stored them: a document for each, counted by total, day, hour and minute."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from backend.domain.clicks import Click
from backend.storage import click_counts, clicks
from backend.storage.counters import add_moments
from backend.storage.mongo import Database

_NOT_STORED = {"visitor", "handoff"}


def former_document(number: int, click: Click, log_id: str) -> dict[str, Any]:
    """The document of a click; what is not known has no field."""
    facts = {item.name: getattr(click, item.name) for item in fields(Click) if item.name not in _NOT_STORED}
    known = {name: value for name, value in facts.items() if value is not None}
    return {"_id": f"{log_id}-{number * 117}", **known}


async def store_formerly(database: Database, stored: Sequence[Click]) -> None:
    """Store and count these clicks as earlier versions did."""
    log_id = uuid.uuid4().hex
    documents = [former_document(number, each, log_id) for number, each in enumerate(stored)]
    await database[clicks.NAME].insert_many(documents)
    moments = [(each.org_id, each.link_id, each.at) for each in stored if each.counted]
    await add_moments(database, click_counts.NAME, None, moments)
