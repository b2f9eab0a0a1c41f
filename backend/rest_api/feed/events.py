"""GET /events: what happened, in one order that never changes (docs/feed.md)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from quart import Response, jsonify, request

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.permissions import Permission, first_missing
from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.event_json import event_json
from backend.domain.feed.events import USUAL_TYPES, EventType
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.authentication import sent_key
from backend.rest_api.feed.cursors import CURSOR_HEADER, CursorRule, of_this_feed
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter, header_parameter
from backend.rest_api.routes.query_string import query_error
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.feed.following import next_page
from backend.storage.feed.reading import MOST_EVENTS, FeedPage
from backend.storage.outbox.marks import FeedPutBack, check_cursor, end_of_feed
from backend.web.current import resources
from backend.web.event_stream import KEEP_ALIVE_SECONDS, MEDIA_TYPE, Message, event_stream, keep_alive

NOW = "now"
DEFAULT_LIMIT = 100
LONGEST_WAIT = 30
LINES = "application/x-ndjson"
# Lines of JSON have no place for whether there is more.
MORE_HEADER = "Waylink-Has-More"
LAST_ID = "Last-Event-ID"
_FORMS = ("application/json", LINES, MEDIA_TYPE)
# Events that a stream reads at a time.
_STREAM_LIMIT = 1_000
_RETRY_AFTER = 30


class _AfterRule(CursorRule):
    """A cursor of the feed, or the word `now`, which is parsed as None."""

    def parse(self, field: str, value: object) -> Cursor | None:  # type: ignore[override]
        """The cursor. Raises InvalidField."""
        if value == NOW:
            return None
        try:
            return super().parse(field, value)
        except InvalidField:
            raise InvalidField(field, f"must be a cursor that this feed gave, or {NOW}") from None


class TypesRule:
    """Types of events, separated by commas."""

    _WORDS = "|".join(type_.value.replace(".", "[.]") for type_ in EventType)

    def parse(self, field: str, value: object) -> frozenset[EventType]:
        """The types. Raises InvalidField."""
        try:
            return frozenset(map(EventType, str(value).split(",")))
        except ValueError:
            rule = f"must be types of events, separated by commas: {', '.join(EventType)}"
            raise InvalidField(field, rule) from None

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        pattern = f"^({self._WORDS})(,({self._WORDS}))*$"
        return {"type": "string", "pattern": pattern, "example": "click,conversion"}


_QUERY = {
    "after": QueryParameter(
        _AfterRule(),
        "Where to go on: the next_cursor of the page before. Without it, from the beginning; "
        f"{NOW}: behind all that there is.",
    ),
    "types": QueryParameter(
        TypesRule(),
        "Only events of these types, separated by commas. Without it, all but audit, which needs the scope "
        "audit:read too.",
    ),
    "limit": QueryParameter(WholeNumber(1, MOST_EVENTS, default=DEFAULT_LIMIT), "Events of a page."),
    "wait": QueryParameter(
        WholeNumber(0, LONGEST_WAIT, default=0),
        "Where there is nothing, so many seconds to wait for something.",
    ),
}
_LAST_EVENT_ID = header_parameter(
    LAST_ID, _AfterRule().schema(), "Of a stream that goes on: the id of its last event. It wins over after."
)
_FILES = {
    LINES: "The page's events, one in a line, each a FeedEvent; where to go on is in the headers.",
    MEDIA_TYPE: "Server-sent events, without limit and wait: as data a FeedEvent each, as id the cursor "
    "behind it, as event its type.",
}
_ANSWER_HEADERS: dict[str, Schema] = {
    CURSOR_HEADER: {"description": "As next_cursor; absent from a stream.", "schema": {"type": "string"}},
    MORE_HEADER: {"description": "As has_more; absent from a stream.", "schema": {"type": "boolean"}},
}


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of the feed: its key, its cursor, and the types of events that it reads."""

    key: ApiKey
    after: Cursor
    types: frozenset[EventType]

    async def page(self, limit: int, seconds: float) -> FeedPage:
        """The next events: at most `limit`, after `seconds` of waiting at most."""
        return await next_page(
            resources().database,
            resources().feed,
            self.key.org_id,
            self.after,
            url_form=resources().short_url_form,
            types=self.types,
            limit=limit,
            seconds=seconds,
        )


@Operation(
    method="GET",
    path="/events",
    summary="Read what happened, in one order that never changes",
    needs=(Permission.FEED_READ,),
    query=_QUERY,
    header_parameters=(_LAST_EVENT_ID,),
    answer="EventPage",
    files=_FILES,
    answer_headers=_ANSWER_HEADERS,
    errors=(error_table.FEED_PUT_BACK, error_table.TOO_MANY_READERS),
)
async def read_events(query: dict[str, Any]) -> Response:
    """The organization's events behind a cursor: as a page, as lines of JSON, or as a stream that goes on."""
    lift_deadline()  # a waiting reader asks again and again; every query has a time limit of its own
    form = request.accept_mimetypes.best_match(_FORMS, default=_FORMS[0])
    name, after = (_last_event() if form == MEDIA_TYPE else None) or ("after", query.get("after", START))
    types = query.get("types", USUAL_TYPES)
    if EventType.AUDIT in types and (missing := first_missing([Permission.AUDIT_READ], caller().permissions)):
        raise ApiError(error_table.SCOPE_MISSING, message=missing.value)
    async with of_this_feed(name):
        reader = _Reader(caller(), await _start(after), types)
        response = _stream(reader, query) if form == MEDIA_TYPE else _page(await _read(reader, query), form)
    response.vary.add("Accept")
    return response


def _last_event() -> tuple[str, Cursor | None] | None:
    """The cursor in Last-Event-ID, which a client sends after its stream broke off, to the same URL."""
    text = request.headers.get(LAST_ID)
    if not text:
        return None
    try:
        return LAST_ID, _AfterRule().parse(LAST_ID, text)
    except InvalidField as error:
        raise query_error(LAST_ID, error.rule) from None


async def _start(after: Cursor | None) -> Cursor:
    """The cursor to read from. Raises FeedPutBack, before a stream begins."""
    database, org_id = resources().database, caller().org_id
    if after is None:
        return await end_of_feed(database, org_id)
    await check_cursor(database, org_id, after)
    return after


async def _read(reader: _Reader, query: dict[str, Any]) -> FeedPage:
    seconds = query.get("wait", 0)
    if seconds:
        _check_room()
    feed = resources().feed
    with feed.reader(reader.key.org_id) if seconds else nullcontext():
        return await reader.page(query.get("limit", DEFAULT_LIMIT), seconds)


def _check_room() -> None:
    if not resources().feed.has_room(caller().org_id):
        api_error = ApiError(error_table.TOO_MANY_READERS)
        raise api_error.with_headers({"Retry-After": str(_RETRY_AFTER)})


def _page(page: FeedPage, form: str) -> Response:
    events = [event_json(event) for event in page.events]
    if form != LINES:
        response = jsonify(
            {"events": events, "next_cursor": str(page.next_cursor), "has_more": page.has_more}
        )
    else:
        lines = "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in events)
        response = Response(lines, content_type=LINES)
    response.headers[CURSOR_HEADER] = str(page.next_cursor)
    response.headers[MORE_HEADER] = str(page.has_more).lower()
    return response


def _stream(reader: _Reader, query: dict[str, Any]) -> Response:
    for name in ("limit", "wait"):
        if name in query:
            raise query_error(name, "is not a parameter of a stream, which goes on by itself")
    _check_room()
    if request.method == "HEAD":
        return Response(b"", content_type=MEDIA_TYPE)
    return event_stream(_messages(reader))


async def _messages(reader: _Reader) -> AsyncGenerator[bytes, None]:
    """The messages of a stream, until the service stops, the key is revoked or the storage fails.

    It also ends if the feed was put back from a backup: the client's next request says so.
    """
    text = sent_key()
    yield keep_alive(str(reader.after))
    with resources().feed.reader(reader.key.org_id):
        while not resources().feed.is_ending and await resources().keys.find(text, KeyKind.REST):
            try:
                page = await reader.page(_STREAM_LIMIT, KEEP_ALIVE_SECONDS)
            except FeedPutBack:
                return
            yield _written(page) or keep_alive(str(page.next_cursor))
            reader = replace(reader, after=page.next_cursor)


def _written(page: FeedPage) -> bytes:
    return b"".join(
        bytes(Message(str(event.cursor), event.type.value, event_json(event))) for event in page.events
    )
