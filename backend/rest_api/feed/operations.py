"""The feed, as data."""

from __future__ import annotations

from backend.json_api import error_table
from backend.rest_api.feed import events as read_events
from backend.rest_api.routes.operation import EVERYWHERE, KEY_ERRORS, Operation, query
from backend.web.event_stream import MEDIA_TYPE

_MEANINGS = {
    "after": "Where to go on: the next_cursor of the page before. Without it, from the beginning; "
    f"{read_events.NOW}: behind all that there is.",
    "types": "Only events of these types, separated by commas.",
    "limit": "Events of a page.",
    "wait": "Where there is nothing, so many seconds to wait for something.",
}
OPERATIONS = (
    Operation(
        "read_events",
        "get",
        "/events",
        "Read what happened, in one order that never changes",
        200,
        "EventPage",
        (error_table.QUERY_INVALID, *KEY_ERRORS, error_table.TOO_MANY_READERS, *EVERYWHERE),
        parameters=(
            *(query(name, rule.schema(), _MEANINGS[name]) for name, rule in read_events.QUERY.items()),
            {
                "name": read_events.LAST_ID,
                "in": "header",
                "required": False,
                "description": "Of a stream that goes on: the id of its last event. It wins over after.",
                "schema": read_events.QUERY["after"].schema(),
            },
        ),
        files={
            read_events.LINES: "The page's events, one in a line, each a FeedEvent; where to go on is in the "
            "headers.",
            MEDIA_TYPE: "Server-sent events, without limit and wait: as data a FeedEvent each, as id the "
            "cursor behind it, as event its type.",
        },
        headers={
            read_events.CURSOR_HEADER: {
                "description": "As next_cursor; absent from a stream.",
                "schema": {"type": "string"},
            },
            read_events.MORE_HEADER: {
                "description": "As has_more; absent from a stream.",
                "schema": {"type": "boolean"},
            },
        },
    ),
)
