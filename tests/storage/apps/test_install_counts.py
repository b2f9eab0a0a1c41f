"""Installs of a link, counted in MongoDB."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.window_counts import WindowCounts
from backend.storage.apps.counters import add_moments
from backend.storage.apps.install_counts import NAME, count_install_window
from backend.storage.driver.mongo import Database

NOW = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)
ORG = OrgId("org")


def new_link() -> LinkId:
    """The id of a link that led to no install."""
    return LinkId(str(uuid.uuid4()))


async def test_windows(database: Database) -> None:
    """Installs fall out of the windows one by one, and stay in the total."""
    link_id = new_link()
    ages = [timedelta(), timedelta(days=6), timedelta(days=7, seconds=1), timedelta(days=31)]
    await add_moments(database, NAME, None, [(ORG, link_id, NOW - age) for age in ages])
    assert await count_install_window(database, link_id, NOW) == WindowCounts(4, 3, 2)


async def test_windows_are_exact_to_the_second(database: Database) -> None:
    """Also around the second in which one begins, and where many come in the same one."""
    link_id = new_link()
    start = NOW - timedelta(days=7)
    around = [start + timedelta(seconds=seconds) for seconds in (-3601, -60, -1, 0, 1, 60, 3600)]
    for _ in range(2):
        await add_moments(database, NAME, None, [(ORG, link_id, at) for at in around] * 3)
    assert await count_install_window(database, link_id, NOW) == WindowCounts(42, 42, 24)
