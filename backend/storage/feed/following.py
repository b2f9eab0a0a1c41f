"""Follows a feed: returns the events behind a cursor, or waits for the next one."""

from __future__ import annotations

import time
from collections.abc import Collection

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import USUAL_TYPES, EventType
from backend.domain.ids import OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import MOST_EVENTS, FeedPage, read_feed
from backend.storage.outbox.watch import FeedWatch


async def next_page(
    database: Database,
    watch: FeedWatch,
    org_id: OrgId,
    after: Cursor,
    *,
    url_form: ShortUrlForm,
    types: Collection[EventType] = USUAL_TYPES,
    limit: int = MOST_EVENTS,
    seconds: float = 0.0,
) -> FeedPage:
    """The first page with events behind the cursor, if it comes within `seconds`; else an empty page.

    `url_form` is as for `read_feed`. Waiting takes no thread, and ends when the service stops. Raises
    StorageError, and FeedPutBack.
    """
    deadline = time.monotonic() + seconds
    while True:
        page = await read_feed(database, org_id, after, url_form=url_form, types=types, limit=limit)
        seconds_left = deadline - time.monotonic()
        if page.events or seconds_left <= 0:
            return page
        after = page.next_cursor
        if not page.has_more and not await watch.wait(org_id, after, seconds_left):
            return page
