"""Alerts in a feed. The facts have all of their data."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.alerts.json_form import alert_event_json
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.runs import EventContent, Run


async def load_alerts(
    _database: Database, _session: ClientSession, _org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' alerts, with the figures of when they fired."""
    return [[EventContent(run.fact["at"], alert_event_json(run.fact))] for run in runs]
