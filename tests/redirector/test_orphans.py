"""Orphan visits that wait for the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast

import pytest
from pymongo.errors import NetworkTimeout

from backend.domain.domains.orphans import DayKey, DayTally
from backend.domain.domains.settings import LinkDomain
from backend.domain.ids import OrgId
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector import orphans
from backend.redirector.orphans import OrphanVisits
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.visit import Visit
from backend.storage.driver.mongo import Database

AT = datetime(2026, 11, 26, tzinfo=UTC)


async def test_they_wait_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """And are stored once it is back, each once."""
    stored: list[int] = []
    is_away = True

    async def store(_: Database, days: Mapping[DayKey, DayTally]) -> None:
        if is_away:
            raise NetworkTimeout("timed out")
        stored.extend(tally.visits for day in days.values() for tally in day.paths.values())

    monkeypatch.setattr(orphans, "add_orphan_visits", store)
    visits = OrphanVisits(cast(Database, None))
    visit = Visit(
        {
            "method": "GET", "path": "/sprng", "raw_path": b"/sprng", "query_string": b"",
            "headers": [(b"host", b"go.shop.com")],
        },
        {"go.shop.com": LinkDomain(OrgId("o"))},
    )  # fmt: skip
    browser = Client(ClientKind.BROWSER, Platform.DESKTOP, "", "", follows_intents=False)
    visits.note(visit, Arrival(browser, AT, "", None))
    await visits.store()
    visits.note(visit, Arrival(browser, AT, "", None))
    is_away = False
    await visits.store()
    await visits.store()
    assert stored == [2]
