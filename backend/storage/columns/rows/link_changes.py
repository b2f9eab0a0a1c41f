"""Changes of links as rows: the facts of the feed that say which fields of a link were changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duckdb import DuckDBPyConnection

from backend.domain.feed.facts import Fact
from backend.storage.columns.tables.staged import Shape, milliseconds, stage

# What is read of an entry of the feed.
FIELDS = dict.fromkeys(
    ("place", "facts.type", "facts.at", "facts.link._id", "facts.changed", "facts.purged"), 1
)
_SHAPE: Shape = {
    "place": "BIGINT",
    "number": "INTEGER",
    "id": "VARCHAR",
    "at": "BIGINT",
    "type": "VARCHAR",
    "changed": ["VARCHAR"],
}


def put_link_changes(connection: DuckDBPyConnection, entries: Iterable[tuple[int, Sequence[Fact]]]) -> None:
    """Write the changes of links among the facts of these entries, given by their places.

    Rows that are there already stay once. Links that are not kept any more get none.
    """
    rows = [row for place, facts in entries for row in _rows(place, facts)]
    if not rows:
        return
    stage(connection, "staged_changes", _SHAPE, rows)
    connection.execute("DELETE FROM link_changes WHERE place IN (SELECT place FROM staged_changes)")
    connection.execute(
        'INSERT INTO link_changes SELECT place, number, link, staged."at", type, changed '
        "FROM staged_changes AS staged JOIN links USING (id) WHERE is_kept"
    )


def forget_link_changes(connection: DuckDBPyConnection, ids: Sequence[str]) -> None:
    """Delete the changes of these links, which were deleted for good."""
    connection.execute(
        "DELETE FROM link_changes WHERE link IN (SELECT link FROM links WHERE list_contains($ids, id))",
        {"ids": list(ids)},
    )


def _rows(place: int, facts: Sequence[Fact]) -> Iterable[tuple[object, ...]]:
    for number, fact in enumerate(facts):
        if "link" in fact and not fact.get("purged"):
            at = milliseconds(fact["at"])
            yield place, number, fact["link"]["_id"], at, fact["type"], list(fact["changed"])
