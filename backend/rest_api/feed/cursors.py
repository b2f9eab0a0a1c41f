"""Cursors of feeds in requests and answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import MOST_CHARACTERS, Cursor, InvalidCursor
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.query_string import query_error
from backend.storage.feed.put_backs import note_put_back
from backend.storage.outbox.marks import FeedPutBack
from backend.web.current import resources

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


@asynccontextmanager
async def of_this_feed(name: str) -> AsyncIterator[None]:
    """Turn FeedPutBack, for the cursor in this parameter, into an ApiError that says where to go on.

    It is noted for the doctor.
    """
    try:
        yield
    except FeedPutBack as put_back:
        if put_back.common is None:
            raise query_error(name, "is ahead of this feed, which has not given it") from None
        key = caller()
        await note_put_back(resources().database, key.org_id, f"REST key {key.name or key.id}", put_back)
        cursor, common = str(put_back.cursor), str(put_back.common)
        error = ApiError(error_table.FEED_PUT_BACK, field=name, message=cursor, cursor=common)
        raise error.with_headers({CURSOR_HEADER: common}) from None
