"""Erasures in a feed: whom readers are to erase, too. It is all in the facts, and goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.domain.links.json_form import exact_time_json
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.runs import Run, Told

_LISTS = ("customers", "devices", "emails_sha256", "installs")


async def load_erasures(
    _database: Database, _session: ClientSession, _org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """Who was erased."""
    return [[Told(run.fact["at"], _data(run.fact))] for run in runs]


def _data(fact: Fact) -> dict[str, Any]:
    shared = [
        {"device_id": each["device_id"], "times": [_period(period) for period in each["times"]]}
        for each in fact["shared_devices"]
    ]
    return {name: fact[name] for name in _LISTS} | {"shared_devices": shared}


def _period(period: dict[str, datetime | None]) -> dict[str, str | None]:
    return {name: exact_time_json(at) if at else None for name, at in period.items()}
