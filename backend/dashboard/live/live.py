"""/live: the newest events, as they arrive.

Marketers open it to see whether a link that they have just placed is clicked, and developers to see whether
the conversions of their SDK or API calls arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from quart import Response, abort, redirect, request, stream_with_context, url_for

from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions, session
from backend.dashboard.frame.blueprint import user as current_user
from backend.dashboard.frame.page import page
from backend.dashboard.live.words import NAMES, in_words
from backend.domain.accounts.permissions import Permission
from backend.domain.feed.cursor import START, Cursor, InvalidCursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.web.client import PLATFORM_NAMES
from backend.storage.accounts.users.sessions import find_session
from backend.storage.accounts.users.users import find_user
from backend.storage.feed.following import next_page
from backend.storage.feed.newest import MOST_PLACES, newest_page
from backend.storage.feed.reading import FeedPage
from backend.storage.links.links import find_links
from backend.storage.outbox.marks import FeedPutBack
from backend.web.current import resources
from backend.web.event_stream import KEEP_ALIVE_SECONDS, MEDIA_TYPE, Message, event_stream, keep_alive

# The text of an empty cell.
_NOTHING = ""


async def rows_of(events: Iterable[Event]) -> list[dict[str, str]]:
    """The cells of the row of each event by name, the newest event first."""
    sees_persons = Permission.PERSONS_READ in permissions()
    events = [event if sees_persons else _without_persons(event) for event in events]
    ids = {link_id for event in events if (link_id := _link_id(event))}
    links = await find_links(resources().database, ids, org_id())
    return [_row(event, links) for event in reversed(events)]


def _without_persons(event: Event) -> Event:
    """The event without what names a customer or a device, for who must not see persons' data."""
    nobody: dict[str, Any] = {"customer_id": None, "device_id": None, "customers": [], "transaction_id": ""}
    return replace(event, data={name: nobody.get(name, value) for name, value in event.data.items()})


def _link_id(event: Event) -> LinkId | None:
    link_id = event.data.get("link_id") or (event.data.get("link") or {}).get("id")
    return LinkId(link_id) if link_id else None


def _row(event: Event, links: Mapping[LinkId, Link]) -> dict[str, str]:
    link = links.get(_link_id(event) or LinkId(""))
    what, detail = in_words(event)
    return {
        "time": event.at.astimezone(zone_of_browser()).strftime("%-d %b, %H:%M:%S"),
        "what": what,
        "detail": detail,
        "link": _name(event, link),
        "address": url_for("dashboard.links_one", link_id=link.id) if link else _NOTHING,
        "amount": _amount(event.data),
        "country": event.data.get("country") or _NOTHING,
        "device": _device(event.data),
    }


def _name(event: Event, link: Link | None) -> str:
    if described_link := event.data.get("link"):
        return str(described_link["link_name"])
    if link:
        return link.link_name
    return "A link that was deleted" if _link_id(event) else _NOTHING


def _amount(data: Mapping[str, Any]) -> str:
    told = data.get("revenue", data.get("amount"))
    return f"{amount(Decimal(str(told)))} {data['currency']}" if told is not None else _NOTHING


def _device(data: Mapping[str, Any]) -> str:
    platform = PLATFORM_NAMES.get(data.get("platform") or "", data.get("platform") or "")
    system = data.get("system") or ""
    facts = (platform, system if system != platform else "", data.get("browser") or "")
    return ", ".join(fact for fact in facts if fact)


MOST_EVENTS = 100
# Seconds between two messages, at least: nobody reads faster, and a browser lays the page out for each.
_MESSAGE_INTERVAL = 0.5


@dashboard.get("/live")
@needs(Permission.ANALYTICS_READ)
async def live() -> Response:
    """The newest events of the types in the address. The page's script adds newer ones."""
    types = _types()

    async def later() -> dict[str, Any]:
        newest = await _newest(START, types)
        return {"rows": await rows_of(newest.events), "cursor": newest.next_cursor}

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
@needs(Permission.ANALYTICS_READ)
async def live_stream() -> Response:
    """The rows of events after a cursor, as server-sent events.

    Redirects to the page where the request is not for a stream, or is for another organization than the
    session's.
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
    return [event_type for event_type in NAMES if event_type.value in request.args.getlist("type")] or list(
        NAMES
    )


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


async def _news(after: Cursor, types: Collection[EventType]) -> FeedPage:
    """Whether there are events behind the cursor: the first of them, if it comes soon."""
    return await next_page(
        resources().database,
        resources().feed,
        org_id(),
        after,
        url_form=resources().short_url_form,
        types=types,
        limit=1,
        seconds=KEEP_ALIVE_SECONDS,
    )


async def _messages(after: Cursor, types: Collection[EventType]) -> AsyncGenerator[bytes, None]:
    """Messages with the newest rows after the cursor, without end while the reader is signed in."""
    feed = resources().feed
    yield keep_alive(str(after))
    with feed.reader(org_id()):
        while not feed.is_ending and await _is_still_signed_in():
            try:
                news = await _news(after, types)
            except FeedPutBack as put_back:
                after = put_back.common or START
                continue
            if not news.events:
                after = news.next_cursor
                yield keep_alive(str(after))
                continue
            newest = await _newest(after, types)
            after = newest.next_cursor
            yield bytes(Message(str(after), "rows", await rows_of(newest.events)))
            await asyncio.sleep(_MESSAGE_INTERVAL)


async def _is_still_signed_in() -> bool:
    """Whether the session still exists, for the same organization and a user who has the same role in it."""
    database = resources().database
    stored_session = await find_session(database, session().token_hash, resources().clock())
    user = await find_user(database, stored_session.user_id) if stored_session else None
    is_same = stored_session and user and stored_session.org_id == org_id() and org_id() in user.org_ids
    return bool(is_same and user and user.role_in(org_id()) is current_user().role_in(org_id()))
