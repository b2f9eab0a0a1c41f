"""Clicks counted in MongoDB."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from backend.domain.analytics import WindowCounts
from backend.domain.ids import LinkId, OrgId
from backend.storage import click_counts
from backend.storage.click_counts import count_window
from backend.storage.counters import add_moments, read_windows
from backend.storage.mongo import Database
from backend.storage.rollups import MOST_SECONDS
from tests.clicks import click, count_clicks

NOW = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)
ORG = OrgId("org")
# A click that is in no window any more, one that is only in the long one, and so on.
AGES = [timedelta(), timedelta(days=6), timedelta(days=7, seconds=1), timedelta(days=31)]


def new_link() -> LinkId:
    """The id of a link that nobody has clicked."""
    return LinkId(str(uuid.uuid4()))


async def test_windows(database: Database) -> None:
    """Clicks fall out of the windows one by one, and stay in the total."""
    link_id = new_link()
    await count_clicks(database, [click(ORG, link_id, NOW - age) for age in AGES])
    assert await count_window(database, ORG, link_id, NOW) == WindowCounts(4, 3, 2)


async def test_windows_of_a_link_with_many_clicks_a_day(database: Database) -> None:
    """Windows are exact to the second also where a day has more clicks than its document has seconds."""
    link_id = new_link()
    start = NOW - timedelta(days=7)
    around = [start + timedelta(seconds=each) for each in (-3601, -60, -1, 0, 1, 60, 3600)]
    for _ in range(2):  # the first are in the day's document, the others in those of hours and minutes
        await count_clicks(
            database, [click(ORG, link_id, at) for at in around for _ in range(MOST_SECONDS // 7)]
        )
    each = 2 * (MOST_SECONDS // 7)
    assert await count_window(database, ORG, link_id, NOW) == WindowCounts(7 * each, 7 * each, 4 * each)
    assert await database[click_counts.NAME].count_documents({"_id": {"$regex": f"^{link_id}/minute/"}}) > 0


async def test_counts_of_earlier_versions_stay(database: Database) -> None:
    """Buckets of a link that were counted before count in the same windows, together with new clicks."""
    link_id = new_link()
    moments = [(ORG, link_id, NOW - age) for age in AGES]
    await add_moments(database, click_counts.NAME, None, moments)
    await count_clicks(database, [click(ORG, link_id, NOW - age) for age in AGES])
    assert await count_window(database, ORG, link_id, NOW) == WindowCounts(8, 6, 4)


async def test_a_day_of_crawlers_is_read_as_version_0_1_does(database: Database) -> None:
    """Where nothing counted, what it needs is there and says so: whoever goes back to it can go on."""
    link_id = new_link()
    await count_clicks(database, [click(ORG, link_id, NOW, reason="crawler")])
    assert await database[click_counts.NAME].count_documents({"link_id": link_id}) == 1
    assert await read_windows(database, click_counts.NAME, link_id, NOW) == WindowCounts(0, 0, 0)
