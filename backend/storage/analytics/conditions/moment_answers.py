"""What was read as of a moment, kept for whoever asks for the same as of that moment.

A page of the dashboard asks some thirty questions at once, and many of them need the same small facts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from cachetools import LRUCache, cached
from duckdb import DuckDBPyConnection, Statement

AnswerT = TypeVar("AnswerT")
_MOST_STATEMENTS = 1_000
_kept: WeakKeyDictionary[DuckDBPyConnection, dict[Hashable, Any]] = WeakKeyDictionary()


def once(connection: DuckDBPyConnection, key: Hashable, read: Callable[[], AnswerT]) -> AnswerT:
    """What `read` returns, or returned before for this key. Each moment has a connection of its own."""
    kept = _kept.setdefault(connection, {})
    if key not in kept:
        kept[key] = read()
    answer: AnswerT = kept[key]
    return answer


def rows_once(
    connection: DuckDBPyConnection, text: str, values: Mapping[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a SELECT from the file's own tables. Nobody may change the list."""
    key = (text, repr(values))
    return once(connection, key, lambda: execute_parsed(connection, text, values))


def execute_parsed(
    connection: DuckDBPyConnection, text: str, values: Mapping[str, Any] | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a statement. It is parsed once: others have it too, with other values or organizations."""
    return connection.execute(_parsed(connection, text), dict(values or {})).fetchall()


@cached(LRUCache(_MOST_STATEMENTS), key=lambda connection, text: text, lock=Lock())
def _parsed(connection: DuckDBPyConnection, text: str) -> Statement:
    """The statement of this text. DuckDB takes a millisecond or two to read a long one."""
    [statement] = connection.extract_statements(text)
    return statement
