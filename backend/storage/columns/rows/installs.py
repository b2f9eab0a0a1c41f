"""Installs of apps as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from duckdb import DuckDBPyConnection

from backend.domain.ids import InstallId
from backend.storage.columns.rows.links import number_links
from backend.storage.columns.tables.staged import milliseconds, stage
from backend.storage.driver.mongo import Document

# What is read of an install's document.
FIELDS = dict.fromkeys(("at", "platform", "link_id"), 1)
_SHAPE = {"id": "VARCHAR", "at": "BIGINT", "platform": "VARCHAR", "link_id": "VARCHAR"}


def delete_installs(connection: DuckDBPyConnection, ids: Collection[InstallId]) -> None:
    """Delete the rows of these installs."""
    connection.execute("DELETE FROM installs WHERE id IN (SELECT unnest($ids))", {"ids": list(ids)})


def insert_installs(connection: DuckDBPyConnection, documents: Iterable[Document]) -> None:
    """Add the rows of these installs, which have no rows yet."""
    stage(connection, "staged_installs", _SHAPE, map(_row, documents))
    number_links(connection, "SELECT link_id AS id FROM staged_installs")
    connection.execute(
        'INSERT INTO installs SELECT staged.id, staged."at", staged.platform, links.link '
        "FROM staged_installs AS staged LEFT JOIN links ON links.id = staged.link_id"
    )


def _row(document: Document) -> tuple[object, ...]:
    own_id = document["_id"].partition("/")[2]
    return own_id, milliseconds(document["at"]), document["platform"], document["link_id"]
