"""Entries of the audit log in a feed. The facts have all of their data."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.audit.entries import entry_of
from backend.domain.feed.event_shapes import AuditJson
from backend.domain.fields.shapes import json_of
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.runs import EventContent, Run


async def load_audit(
    _database: Database, _session: ClientSession, _org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' entries."""
    entries = [entry_of(run.fact, run.id_of(0), run.stored_at) for run in runs]
    return [[EventContent(entry.at, json_of(AuditJson, entry))] for entry in entries]
