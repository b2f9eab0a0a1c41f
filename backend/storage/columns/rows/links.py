"""Links as rows, with their numbers, and tags."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from duckdb import DuckDBPyConnection

from backend.domain.ids import TagId
from backend.domain.links.links import UTM_FIELDS
from backend.storage.columns.tables.staged import Shape, stage
from backend.storage.driver.mongo import Document

# The columns of `links` that are fields of a link's document, but for its UTM values.
_FIELDS = ("domain", "path", "link_name")
# Those of its UTM values, by the names of these.
UTM_COLUMNS: Mapping[str, str] = {name: name.removeprefix("utm_") for name in UTM_FIELDS}
_COLUMNS = (*_FIELDS, *UTM_COLUMNS.values(), "tag_ids")
_SHAPE: Shape = {"id": "VARCHAR", **dict.fromkeys(_COLUMNS[:-1], "VARCHAR"), "tag_ids": ["VARCHAR"]}
FIELDS = dict.fromkeys((*_FIELDS, "utm", "tag_ids"), 1)
_NEW_NUMBER = "(SELECT coalesce(max(link), 0) FROM links) + row_number() OVER ()"


def number_links(connection: DuckDBPyConnection, ids: str) -> None:
    """Give a number to each link that has none. `ids` is SQL for their ids, as `id`; null is none."""
    connection.execute(
        f"INSERT INTO links (link, id, is_kept) SELECT {_NEW_NUMBER}, id, false "
        f"FROM (SELECT DISTINCT id FROM ({ids}) WHERE id IS NOT NULL) ANTI JOIN links USING (id)"
    )


def numbers_of_links(staged: str, key: str, ids: str) -> str:
    """SQL to join to a staged table: `links`, the numbers of the links with the ids in each list `ids`.

    A row has another `key` than all others, and each of the links has a number.
    """
    return f"""
        JOIN (
            SELECT {key}, list(link ORDER BY position) AS links FROM (
                SELECT {key}, unnest({ids}) AS id, unnest(range(len({ids}))) AS position FROM {staged}
            ) JOIN links USING (id) GROUP BY {key}
        ) USING ({key})
    """


def put_links(connection: DuckDBPyConnection, links: Iterable[Document]) -> None:
    """Write these documents of links, each once, in the place of the rows of the same links."""
    stage(connection, "staged_links", _SHAPE, map(_row, links))
    values = ", ".join(f"staged.{name}" for name in _COLUMNS)
    changes = ", ".join(f"{name} = staged.{name}" for name in _COLUMNS)
    connection.execute(
        f"MERGE INTO links USING (SELECT *, {_NEW_NUMBER} AS link FROM staged_links) AS staged "
        "ON links.id = staged.id "
        f"WHEN MATCHED THEN UPDATE SET is_kept = true, {changes} "
        f"WHEN NOT MATCHED THEN INSERT (link, id, is_kept, {', '.join(_COLUMNS)}) "
        f"VALUES (staged.link, staged.id, true, {values})"
    )


def forget_links(connection: DuckDBPyConnection, ids: Collection[str]) -> None:
    """Clear the rows of these links, which were deleted for good. Clicks and visits still refer to them."""
    empty = ", ".join(f"{name} = NULL" for name in _COLUMNS)
    connection.execute(
        f"UPDATE links SET is_kept = false, {empty} WHERE list_contains($ids, id)", {"ids": list(ids)}
    )
    # As storage/lifecycle/purge does.
    connection.execute(
        "UPDATE installs SET link = NULL "
        "WHERE link IN (SELECT link FROM links WHERE list_contains($ids, id))",
        {"ids": list(ids)},
    )


def put_tags(connection: DuckDBPyConnection, names: Mapping[TagId, str | None]) -> None:
    """Write the names of these tags; None deletes a tag."""
    stage(connection, "staged_tags", {"id": "VARCHAR", "name": "VARCHAR"}, names.items())
    connection.execute("DELETE FROM tags WHERE id IN (SELECT id FROM staged_tags)")
    connection.execute("INSERT INTO tags SELECT id, name FROM staged_tags WHERE name IS NOT NULL")


def _row(link: Document) -> tuple[object, ...]:
    utm = link.get("utm") or {}
    return (
        link["_id"],
        *(link[name] for name in _FIELDS),
        *(utm.get(name) for name in UTM_COLUMNS),
        link.get("tag_ids") or [],
    )
