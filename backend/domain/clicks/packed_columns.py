"""Columns as bytes: a marker that says what they are, and behind it JSON under zlib.

What is read is checked entry by entry: bytes may come from a damaged disk, or from a forged archive.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

LONGEST_TEXT = 512  # of an entry in a table

ValueT = TypeVar("ValueT", bound=Hashable)
ColumnsT = TypeVar("ColumnsT")


class UnreadableColumns(ValueError):
    """Bytes can't be read as such columns."""


def text_of(columns: Mapping[str, object]) -> bytes:
    """The columns as JSON."""
    return json.dumps(columns, separators=(",", ":")).encode("ascii")


def packed(marker: bytes, text: bytes, level: int) -> bytes:
    """The bytes to store: the marker and the text, compressed at this `level` of zlib."""
    return marker + zlib.compress(text, level)


def text_in(stored: bytes, marker: bytes, largest: int) -> bytes:
    """The JSON in stored bytes. Raises UnreadableColumns, also if it has more than `largest` bytes."""
    if stored[: len(marker)] != marker:
        raise UnreadableColumns("unknown format")
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(stored[len(marker) :], largest)
    except zlib.error as error:
        raise UnreadableColumns(type(error).__name__) from None
    if unpacking.unconsumed_tail or not unpacking.eof or unpacking.unused_data:
        raise UnreadableColumns("too large, or cut off")
    return text


def columns_in(text: bytes, check: Callable[[dict[str, Any]], ColumnsT]) -> ColumnsT:
    """What `check` makes of the columns in this JSON.

    Raises UnreadableColumns, also for any other error that wrong columns can lead to.
    """
    try:
        return check(json.loads(text))
    except UnreadableColumns:
        raise
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise UnreadableColumns(type(error).__name__) from None


def table(values: Sequence[ValueT]) -> tuple[list[ValueT], list[int]]:
    """The different values, and for each of the values its position among them."""
    distinct = list(dict.fromkeys(values))
    positions = {value: position for position, value in enumerate(distinct)}
    return distinct, list(map(positions.__getitem__, values))


def integers(column: Any) -> list[int]:
    """The column, if all its entries are whole numbers. Raises UnreadableColumns."""
    if not isinstance(column, list) or set(map(type, column)) - {int}:
        raise UnreadableColumns("a column is not of whole numbers")
    return column


def positions(column: Any, table: Sequence[object], length: int) -> list[int]:
    """The column, if it has `length` entries that are positions in the table. Raises UnreadableColumns."""
    numbers = integers(column)
    if len(numbers) != length or (numbers and not 0 <= min(numbers) <= max(numbers) < len(table)):
        raise UnreadableColumns("a column does not fit its table")
    return numbers


def text(value: Any) -> str | None:
    """The entry of a table, if it is a text that can be stored, or None. Raises UnreadableColumns."""
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UnreadableColumns("a table holds something else than text")
    value.encode()  # half a character can't be stored
    return value
