"""Cursors: behind which row a page begins, and which clicks it sees.

A page begins behind a row's values, not after a number of rows. So a cursor stays valid while clicks are
counted. Each page sees the clicks that the first page saw, since blocks of clicks are numbered as they come.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from backend.domain.analytics.query import Filter, Not, Prefix, Query
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import SURROGATE
from backend.domain.web.base64url import base64url, from_base64url

# A cursor holds the values of one row, among them some texts.
_MOST_CURSOR_BYTES = 100_000
_HIGHEST_NUMBER = 2**62


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an answer: behind the row with these values of the order's keys.

    Clicks are seen up to the block with this number and this id. If the block of that number has another id,
    or there is none, blocks have been numbered anew, and all clicks are seen.
    """

    values: Sequence[object]
    block: int | None
    block_id: str | None


def written(query: Query, place: Place) -> str:
    """The cursor of this place, which belongs to the query."""
    parts = [_mark(query), place.block, place.block_id, *place.values]
    packed = zlib.compress(json.dumps(parts, ensure_ascii=False).encode())
    return base64url(packed)


def read(query: Query, are_texts: Sequence[bool]) -> Place | None:
    """The place where the query's page begins, None for the beginning.

    `are_texts` says of each key of the order whether it is a text or a number. Raises InvalidField for a
    cursor of another query.
    """
    if query.cursor is None:
        return None
    mark, block, block_id, *values = _parts(query.cursor)
    if mark != _mark(query):
        raise InvalidField(
            "cursor", "belongs to another query, or to another day where from or to was left out"
        )
    if len(values) != len(are_texts) or not all(map(_is_value, values, are_texts)):
        raise _no_cursor()
    if not isinstance(block, int) or not isinstance(block_id, str):
        return Place(values, None, None)
    if not (_is_value(block, False) and _is_value(block_id, True)):
        raise _no_cursor()
    return Place(values, block, block_id)


def _is_value(value: object, is_text: bool) -> bool:
    """Whether a row can have this value: a cursor may have been made up."""
    if value is None:
        return True
    if is_text:
        return isinstance(value, str) and not SURROGATE.search(value)
    return isinstance(value, int | float) and -_HIGHEST_NUMBER <= value <= _HIGHEST_NUMBER


def _parts(text: str) -> list[object]:
    try:
        unpacking = zlib.decompressobj()
        packed = from_base64url(text)
        parts: object = json.loads(unpacking.decompress(packed, _MOST_CURSOR_BYTES))
    except (ValueError, zlib.error, RecursionError):
        raise _no_cursor() from None
    if not isinstance(parts, list) or len(parts) < 3:
        raise _no_cursor()
    return parts


def _no_cursor() -> InvalidField:
    return InvalidField("cursor", "is not one that was answered here")


def _mark(query: Query) -> str:
    """A digest of the query without its cursor, its page size and its time."""
    filters = [(name, _plain(chosen)) for name, chosen in sorted(query.filters.items())]
    first_page = replace(query, cursor=None, limit=1, filters={}, now=None)
    return hashlib.sha256(repr((first_page, filters)).encode()).hexdigest()[:16]


def _plain(chosen: Filter) -> object:
    match chosen:
        case Prefix(text):
            return text
        case Not(values):
            return "not", _sorted(values)
    return _sorted(chosen)


def _sorted(values: frozenset[str | None]) -> list[str | None]:
    return sorted(values, key=lambda value: (value is not None, value or ""))


def newest_block(connection: DuckDBPyConnection) -> tuple[int, str] | None:
    """The number and the id of the block that came last; None if there is none."""
    block = connection.execute("SELECT block, id FROM blocks ORDER BY block DESC LIMIT 1").fetchone()
    return (block[0], block[1]) if block else None


def last_block(connection: DuckDBPyConnection, place: Place | None) -> int | None:
    """The number of the last block whose clicks the page sees; None for all blocks."""
    if place is None or place.block is None:
        return None
    same_block = "SELECT 1 FROM blocks WHERE block = $block AND id = $id"
    is_same_block = connection.execute(same_block, {"block": place.block, "id": place.block_id}).fetchone()
    return place.block if is_same_block else None
