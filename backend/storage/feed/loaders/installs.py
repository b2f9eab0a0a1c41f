"""Loads the first launches of apps of a feed's events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.feed.event_shapes import InstallJson
from backend.domain.fields.shapes import json_of
from backend.domain.ids import InstallId, OrgId
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loaders.fact_documents import find_documents
from backend.storage.feed.loaders.runs import EventContent, Run


async def load_installs(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' installs; None for an install that was deleted."""
    own_ids = (run.fact["install_id"] for run in runs if run.fact["install_id"])
    documents = await find_documents(database, session, installs.NAME, org_id, own_ids)
    return [[_content(run.fact["install_id"], documents)] for run in runs]


def _content(install_id: InstallId | None, documents: Mapping[str, Document]) -> EventContent | None:
    document = documents.get(install_id) if install_id else None
    if document is None:
        return None
    return EventContent(document["at"], json_of(InstallJson, document, install_id=install_id))
