"""Days whose single clicks have expired, as rows: summaries of clicks come in the place of blocks.

A summary stands in the table `blocks` as a block does, so that its clicks count once. Its number there is
below zero: pages of an answer see clicks up to a block, and those that were added up meanwhile are older.
"""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from duckdb import DuckDBPyConnection

from backend.domain.analytics.period import QUARTERS_OF_DAY
from backend.domain.clicks.block import DAY_MS
from backend.storage.clicks.summaries import StoredSummary
from backend.storage.columns.rows.links import number_links
from backend.storage.columns.tables.staged import unstage

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
_NUMBERED = """
    SELECT block, any_value(summary) AS summary, list(links.link ORDER BY position) AS links FROM (
        SELECT block, summary, unnest(summary.link_table) AS id,
            unnest(range(len(summary.link_table))) AS position
        FROM staged_summaries
    ) JOIN links USING (id) GROUP BY block
"""
_OF_WHAT = ("outcome", "reason", "platform", "system", "browser")
_INSERT_CLICKS = f"""
    INSERT INTO clicks BY NAME
    SELECT block, (day::BIGINT * {QUARTERS_OF_DAY} + quarter) * {_QUARTER_MS} AS "at",
        links[link + 1] AS link, weight,
        {", ".join(f"summary.what_table[what + 1][{n}] AS {name}" for n, name in enumerate(_OF_WHAT, 1))},
        summary.country_table[country + 1] AS country, summary.referrer_table[referrer + 1] AS referrer,
        summary.variant_table[variant + 1] AS variant
    FROM (
        SELECT block, summary, links, summary.day AS day, unnest(summary.quarter) AS quarter,
            unnest(summary.weight) AS weight,
            {", ".join(f"unnest(summary.{name}) AS {name}" for name in _POSITIONS)}
        FROM ({_NUMBERED})
    )
"""
_INSERT_VISITORS = f"""
    INSERT INTO day_visitors SELECT day, links[position + 1], visitor FROM (
        SELECT links, summary.day AS day, unnest(summary.visitor_link) AS position,
            unnest(summary.visitor) AS visitor
        FROM ({_NUMBERED})
    )
"""


def insert_summaries(connection: DuckDBPyConnection, summaries: Sequence[StoredSummary]) -> None:
    """Put those of these summaries into the tables that are not there yet, in the caller's transaction."""
    if not summaries:
        return
    values = {
        "ids": [summary.id for summary in summaries],
        "texts": [summary.columns for summary in summaries],
    }
    connection.execute(_STAGE, values)
    number_links(connection, "SELECT unnest(summary.link_table) AS id FROM staged_summaries")
    connection.execute(_INSERT_CLICKS)
    connection.execute(_INSERT_VISITORS)
    connection.execute("INSERT INTO blocks SELECT block, id, summary.day FROM staged_summaries")
    unstage(connection, "staged_summaries")


def delete_blocks(connection: DuckDBPyConnection, ids: Iterable[str]) -> None:
    """Delete the clicks of these blocks, which are added up now, in the caller's transaction."""
    values = {"ids": list(ids)}
    connection.execute(
        "DELETE FROM clicks WHERE block IN (SELECT block FROM blocks WHERE list_contains($ids, id))", values
    )
    connection.execute("DELETE FROM blocks WHERE list_contains($ids, id)", values)
