"""Days whose single clicks have expired, as rows: summaries of clicks come in the place of blocks.

A summary stands in the table `blocks` as a block does, so that its clicks count once. Its number there is
below zero: pages of an answer see clicks up to a block, and those that were added up meanwhile are older.
"""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

import json
from collections.abc import Iterable

from duckdb import DuckDBPyConnection

from backend.domain.analytics.period import QUARTERS_OF_DAY
from backend.domain.clicks.block import DAY_MS
from backend.storage.clicks.summaries import StoredSummary
from backend.storage.columns.rows.links import number_links, numbers_of_links
from backend.storage.columns.tables.forgetting import note_forgotten
from backend.storage.columns.tables.staged import looked_up, unstage

_QUARTER_MS = DAY_MS // QUARTERS_OF_DAY
_POSITIONS = ("link", "what", "country", "referrer", "variant")
_SHAPE = json.dumps(
    {
        "day": "INTEGER",
        **{name: ["UINTEGER"] for name in ("quarter", "weight", *_POSITIONS, "visitor_link", "visitor")},
        **{f"{name}_table": ["VARCHAR"] for name in _POSITIONS if name != "what"},
        "what_table": [["VARCHAR"]],
    }
)
# The new summaries, each with the number of the row that stands for it in `blocks`.
_STAGE = f"""
    CREATE OR REPLACE TEMP TABLE staged_summaries AS
    SELECT (SELECT least(min(block), 0) FROM blocks) - row_number() OVER () AS block, id, summary FROM (
        SELECT id, from_json_strict(text, '{_SHAPE}') AS summary
        FROM (SELECT unnest($ids::VARCHAR[]) AS id, unnest($texts::VARCHAR[]) AS text)
        ANTI JOIN blocks USING (id)
    )
"""
_NUMBERED = "staged_summaries" + numbers_of_links("staged_summaries", "block", "summary.link_table")
_OF_WHAT = ("outcome", "reason", "platform", "system", "browser")
_VALUES = {
    "link": looked_up("links", "summary.link"),
    **{
        name: looked_up(f"list_transform(summary.what_table, lambda what: what[{n}])", "summary.what")
        for n, name in enumerate(_OF_WHAT, 1)
    },
    **{
        name: looked_up(f"summary.{name}_table", f"summary.{name}")
        for name in ("country", "referrer", "variant")
    },
}
_CLICKS = f"""
    SELECT * EXCLUDE (day, quarter), (day::BIGINT * {QUARTERS_OF_DAY} + quarter) * {_QUARTER_MS} AS "at"
    FROM (
        SELECT block, summary.day, unnest(summary.quarter) AS quarter, unnest(summary.weight) AS weight,
            {", ".join(f"{value} AS {name}" for name, value in _VALUES.items())}
        FROM {_NUMBERED}
    )
"""
_VISITORS = f"""
    SELECT summary.day, {looked_up("links", "summary.visitor_link")}, unnest(summary.visitor)
    FROM {_NUMBERED}
"""


def number_links_of(connection: DuckDBPyConnection, summary: StoredSummary) -> None:
    """Give numbers to the links of a summary that is to be inserted, in a transaction before."""
    _stage(connection, summary)
    number_links(connection, "SELECT unnest(summary.link_table) AS id FROM staged_summaries")


def insert_summary(connection: DuckDBPyConnection, catalog: str, summary: StoredSummary) -> None:
    """Put a summary into the tables of this catalogue if it is not there yet, in the caller's transaction."""
    _stage(connection, summary)
    connection.execute(f"INSERT INTO {catalog}.clicks BY NAME {_CLICKS}")
    connection.execute(f"INSERT INTO {catalog}.day_visitors {_VISITORS}")
    connection.execute(f"INSERT INTO {catalog}.blocks SELECT block, id, summary.day FROM staged_summaries")
    unstage(connection, "staged_summaries")


def _stage(connection: DuckDBPyConnection, summary: StoredSummary) -> None:
    connection.execute(_STAGE, {"ids": [summary.id], "texts": [summary.columns]})


def delete_blocks(connection: DuckDBPyConnection, catalog: str, ids: Iterable[str]) -> None:
    """Delete the clicks of these blocks, which are added up now, in the caller's transaction."""
    values = {"ids": list(ids)}
    added_up = f"FROM {catalog}.blocks WHERE id IN (SELECT unnest($ids))"
    if connection.execute(f"SELECT 1 {added_up} LIMIT 1", values).fetchone():
        note_forgotten(connection, catalog)
        connection.execute(f"DELETE FROM {catalog}.clicks WHERE block IN (SELECT block {added_up})", values)
        connection.execute(f"DELETE {added_up}", values)
