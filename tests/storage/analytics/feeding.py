"""Tables that follow a feed, for tests."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.storage.columns.applying import apply
from backend.storage.driver.mongo import Database
from backend.storage.feed.packed import MOST_ENTRIES, read_packed
from tests.facts.feeds import place_all
from tests.storage.analytics.tables import written


async def catch_up(
    database: Database, org_id: OrgId, columns: DuckDBPyConnection, limit: int = MOST_ENTRIES
) -> list[str]:
    """Apply all that is in the feed, in pages of so many entries. Returns the blocks that can't be read."""
    await place_all(database, org_id)
    unreadable: list[str] = []
    has_more = True
    while has_more:
        page = await read_packed(database, org_id, Cursor(place_of(columns)), limit)
        unreadable += await apply(database, org_id, written(columns), page)
        assert place_of(columns) == page.next_cursor.place
        has_more = page.has_more
    return unreadable


def place_of(columns: DuckDBPyConnection) -> int:
    """How far the tables have come."""
    found = columns.execute("SELECT place FROM state").fetchone()
    assert found
    return int(found[0])
