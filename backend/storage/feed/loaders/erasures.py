"""Erasures in a feed, which tell readers whom to erase. The facts have all of their data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from backend.domain.feed.facts import Fact
from backend.domain.fields.json_times import exact_time_json
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.runs import EventContent, Run

_LISTS = ("customers", "devices", "emails_sha256", "installs")


async def load_erasures(
    _database: Database, _session: ClientSession, _org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' erasures, with the ids of the erased people."""
    return [[EventContent(run.fact["at"], _data(run.fact))] for run in runs]


def _data(fact: Fact) -> dict[str, Any]:
    shared = [
        {"device_id": device["device_id"], "times": [_period(period) for period in device["times"]]}
        for device in fact["shared_devices"]
    ]
    return {name: fact[name] for name in _LISTS} | {"shared_devices": shared}


def _period(period: dict[str, datetime | None]) -> dict[str, str | None]:
    return {name: exact_time_json(at) if at else None for name, at in period.items()}
