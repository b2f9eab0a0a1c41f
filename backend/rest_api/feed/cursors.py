"""Cursors of feeds in requests and answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import MOST_CHARACTERS, Cursor, InvalidCursor
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.query_string import query_error
from backend.storage.outbox.marks import FeedPutBack

# Lines of JSON, and errors, have no other place for the cursor.
CURSOR_HEADER = "Waylink-Next-Cursor"


class CursorRule:
    """A cursor of the feed."""

    def parse(self, field: str, value: object) -> Cursor:
        """The cursor. Raises InvalidField."""
        try:
            return Cursor.parse(str(value))
        except InvalidCursor:
            raise InvalidField(field, "must be a next_cursor that was answered here") from None

    def schema(self) -> Schema:
        """JSON Schema of the text. Callers need not know what it is made of."""
        return {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}


@contextmanager
def of_this_feed(name: str) -> Iterator[None]:
    """Turn FeedPutBack, for the cursor in this parameter, into an ApiError that says where to go on."""
    try:
        yield
    except FeedPutBack as put_back:
        if put_back.common is None:
            raise query_error(name, "is ahead of this feed, which has not given it") from None
        cursor, common = str(put_back.cursor), str(put_back.common)
        error = ApiError(error_table.FEED_PUT_BACK, field=name, message=cursor, cursor=common)
        raise error.with_headers({CURSOR_HEADER: common}) from None
