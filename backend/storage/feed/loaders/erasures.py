"""Erasures in a feed, which tell readers whom to erase. The facts have all of their data."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.feed.event_shapes import ErasedJson
from backend.domain.fields.shapes import json_of
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.runs import EventContent, Run


async def load_erasures(
    _database: Database, _session: ClientSession, _org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' erasures, with the ids of the erased people."""
    return [[EventContent(run.fact["at"], json_of(ErasedJson, run.fact))] for run in runs]
