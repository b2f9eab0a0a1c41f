"""Follows a feed: what is behind a cursor now, or as soon as something is."""

from __future__ import annotations

import time
from collections.abc import Collection

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database, until_confirmed
from backend.storage.feed.reading import MOST_EVENTS, FeedPage, read_feed
from backend.storage.outbox.heads import find_heads
from backend.storage.outbox.watch import FeedWatch


async def next_page(
    database: Database,
    watch: FeedWatch,
    org_id: OrgId,
    after: Cursor,
    *,
    url_form: ShortUrlForm,
    types: Collection[EventType] = frozenset(EventType),
    limit: int = MOST_EVENTS,
    seconds: float = 0.0,
) -> FeedPage:
    """The page behind the cursor. Where that has no events, the first that has, if it comes in these seconds.

    `url_form` is as for `read_feed`. No thread is held meanwhile. While the service stops, nothing is waited
    for. Raises StorageError.
    """
    deadline = time.monotonic() + seconds
    while True:
        page = await read_feed(database, org_id, after, url_form=url_form, types=types, limit=limit)
        left = deadline - time.monotonic()
        if page.events or left <= 0:
            return page
        after = page.next_cursor
        if not page.has_more and not await watch.wait(org_id, after, left):
            return page


async def is_ahead(database: Database, org_id: OrgId, cursor: Cursor) -> bool:
    """Whether the organization's feed has not come so far, so that it can't have given this cursor."""
    if await _is_ahead(database, org_id, cursor):
        # A primary that was just elected may not know yet that a majority has what was read before.
        await until_confirmed(database)
        return await _is_ahead(database, org_id, cursor)
    return False


async def _is_ahead(database: Database, org_id: OrgId, cursor: Cursor) -> bool:
    return cursor > await end_of_feed(database, org_id)


async def end_of_feed(database: Database, org_id: OrgId) -> Cursor:
    """The cursor behind all that the organization's feed has now."""
    return Cursor((await find_heads(database, [org_id]))[org_id] + 1)
