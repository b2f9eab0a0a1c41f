"""Cursors: where the next page of a list of links begins. Callers send them back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.fields.rules import Moment, Text, is_uuid
from backend.domain.ids import LinkId
from backend.domain.links.listing import LinkOrder
from backend.rest_api.routes.cursor_text import RefusedCursor, read_cursor, write_cursor
from backend.rest_api.routes.query_string import query_error
from backend.storage.links.lists.listing import ListPlace

_HEX = frozenset("0123456789abcdef")
_MAX_POSITION = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCursor:
    """Where the next page begins: behind this place of the order. Where links are sorted by clicks, `rank` is
    the name of the stored order and the position in it."""

    place: ListPlace = ("", LinkId(""))
    rank: tuple[str, int] = ("", 0)

    def write(self, question: str) -> str:
        """The cursor as text. `question` is the filter and the order of the list."""
        value, link_id = self.place
        is_time = isinstance(value, datetime)
        place = self.rank if self.rank[0] else (value.isoformat() if is_time else value, link_id)
        return write_cursor(question, *place)


def cursor_in(query: Mapping[str, Any], question: str, order: LinkOrder) -> ListCursor | None:
    """The cursor of the query string; None without one. Raises ApiError, also for one of another list."""
    try:
        return _read(query["cursor"], question, order) if "cursor" in query else None
    except RefusedCursor as error:
        raise query_error("cursor", str(error)) from None


def _read(text: str, question: str, order: LinkOrder) -> ListCursor:
    values = read_cursor(text, question)
    try:
        first, second = values
        return _cursor(first, second, order)
    except (ValueError, TypeError):
        raise RefusedCursor.unknown() from None


def _cursor(first: Any, second: Any, order: LinkOrder) -> ListCursor:
    if order.by_clicks:
        if not isinstance(first, str) or not _HEX.issuperset(first) or len(first) != 32:
            raise ValueError(first)
        if type(second) is not int or not 0 <= second < _MAX_POSITION:
            raise ValueError(second)
        return ListCursor(rank=(first, second))
    if not isinstance(second, str) or not is_uuid(second):
        raise ValueError(second)
    rule = Text(1024) if order is LinkOrder.NAME else Moment()
    return ListCursor(place=(rule.parse("cursor", first), LinkId(second)))
