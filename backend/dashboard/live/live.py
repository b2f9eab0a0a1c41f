"""/live: what happens right now, the newest first.

Who opens it: a marketer who has just placed a link or a banner and wants to see whether it works, and a
developer who wires up the SDK or an API and wants to see whether a conversion arrives. They decide whether to
go on, or to look for what is wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from typing import Any, cast

from quart import Response, abort, redirect, request, stream_with_context, url_for

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, org_id, session
from backend.dashboard.frame.page import page
from backend.dashboard.live.rows import rows_of
from backend.dashboard.live.words import NAMES
from backend.domain.feed.cursor import START, Cursor, InvalidCursor
from backend.domain.feed.events import EventType
from backend.storage.accounts.users.sessions import find_session
from backend.storage.accounts.users.users import find_user
from backend.storage.feed.following import next_page
from backend.storage.feed.newest import MOST_PLACES, newest_page
from backend.storage.feed.reading import FeedPage
from backend.web.current import resources
from backend.web.event_stream import KEEP_ALIVE_SECONDS, MEDIA_TYPE, Message, event_stream, keep_alive

MOST_EVENTS = 100
# Seconds between two messages at least: nobody reads more, and each has the page laid out anew.
_BETWEEN = 0.5


@dashboard.get("/live")
async def live() -> Response:
    """The newest events of the types in the address; a script goes on from there."""
    types = _types()

    async def later() -> dict[str, Any]:
        found = await _newest(START, types)
        return {"rows": await rows_of(found.events), "cursor": found.next_cursor}

    return await page(
        "live/live.html",
        later=later,
        names=NAMES,
        chosen=types,
        organization_id=org_id(),
        zone=zone_of_browser(),
        most=MOST_EVENTS,
        most_places=MOST_PLACES,
    )


@dashboard.get("/live/stream")
async def live_stream() -> Response:
    """The rows of what comes behind a cursor, as server-sent events.

    Leads elsewhere who is not the page's script, or whose page shows another organization than their session.
    """
    asks_for_stream = MEDIA_TYPE in request.headers.get("Accept", "")
    if not asks_for_stream or request.args.get("organization") != org_id():
        return cast(Response, redirect(url_for("dashboard.live"), 303))
    after, types = _after(), _types()
    if not resources().feed.has_room(org_id()):
        abort(429)
    if request.method == "HEAD":
        return Response(b"", content_type=MEDIA_TYPE)
    return event_stream(stream_with_context(_messages)(after, types))


def _types() -> Collection[EventType]:
    """The types in the address; all if there are none."""
    return [each for each in NAMES if each.value in request.args.getlist("type")] or list(NAMES)


def _after() -> Cursor:
    try:
        return Cursor.parse(request.headers.get("Last-Event-ID") or request.args.get("after", ""))
    except InvalidCursor:
        abort(400)


async def _newest(after: Cursor, types: Collection[EventType]) -> FeedPage:
    return await newest_page(
        resources().database,
        org_id(),
        after,
        url_form=resources().short_url_form,
        types=types,
        most=MOST_EVENTS,
    )


async def _messages(after: Cursor, types: Collection[EventType]) -> AsyncGenerator[bytes, None]:
    """The newest of what comes, again and again, as long as its reader may see it."""
    database, feed = resources().database, resources().feed
    yield keep_alive(str(after))
    with feed.reader(org_id()):
        while not feed.is_ending and await _is_still_signed_in():
            news = await next_page(
                database,
                feed,
                org_id(),
                after,
                url_form=resources().short_url_form,
                types=types,
                limit=1,
                seconds=KEEP_ALIVE_SECONDS,
            )
            if not news.events:
                after = news.next_cursor
                yield keep_alive(str(after))
                continue
            found = await _newest(after, types)
            after = found.next_cursor
            yield bytes(Message(str(after), "rows", await rows_of(found.events)))
            await asyncio.sleep(_BETWEEN)


async def _is_still_signed_in() -> bool:
    """Whether the session goes on, for the same organization."""
    database = resources().database
    found = await find_session(database, session().token_hash, resources().clock())
    user = await find_user(database, found.user_id) if found else None
    return bool(found and user and found.org_id == org_id() and org_id() in user.org_ids)
