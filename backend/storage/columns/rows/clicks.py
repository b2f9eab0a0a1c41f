"""Clicks as rows, out of blocks: a block goes to DuckDB as the JSON that it holds, and DuckDB unpacks it.

That takes a fraction of the time of making clicks in Python. A block is checked no less thoroughly than by
`unpack` of domain/clicks/block, and where a check fails, `unpack` decides.
"""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import duckdb
from duckdb import DuckDBPyConnection

from backend.domain.clicks.block import DAY_MS, UnreadableBlock, json_in, unpack
from backend.domain.links.destinations.destination import Outcome
from backend.storage.clicks.blocks import parts_of
from backend.storage.columns.rows.links import number_links, numbers_of_links
from backend.storage.columns.tables.staged import looked_up, milliseconds, stage, unstage
from backend.storage.columns.tables.transactions import transaction
from backend.storage.columns.tables.written_columns import WrittenColumns
from backend.storage.driver.mongo import Document

# What is read of a block's document.
FIELDS = dict.fromkeys(("packed", "clicks", "last_at", "parts"), 1)
_TABLES = ("link", "what", "country", "referrer", "variant")
# What one transaction adds: with fewer clicks loading takes longer, with more it takes 30 MB more.
CLICKS_PER_TRANSACTION = 92_160
_BLOCKS_PER_TRANSACTION = 2_000
_LONGEST_TEXT, _LATEST_MS, _OF_WHAT = 512, 253_402_300_799_999, 6
_BLOCK = {"block": "INTEGER", "id": "VARCHAR", "day": "INTEGER"}
# Up to so many clicks are checked in Python: to plan the statement that checks them in SQL takes longer.
_MOST_CHECKED_IN_PYTHON = 2_000
_NOT_AS_EXPECTED = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)
_logger = logging.getLogger(__name__)
_SHAPE = json.dumps(
    {
        "at": ["BIGINT"],
        "what_table": [["VARCHAR"]],
        **{f"{name}_table": ["VARCHAR"] for name in _TABLES if name != "what"},
        **{name: ["UINTEGER"] for name in (*_TABLES, "visitor")},
    }
)
# Of each block: the numbers of its parts, null for one whose clicks are there already, and their sizes.
_STAGE = f"""
    CREATE OR REPLACE TEMP TABLE staged_clicks AS
    SELECT n, parts, coalesce(sizes, [len(clicks."at")]) AS sizes, clicks FROM (
        SELECT n, parts, sizes, from_json_strict(text, '{_SHAPE}') AS clicks FROM (
            SELECT unnest($ns::INTEGER[]) AS n, unnest($parts::INTEGER[][]) AS parts,
                unnest($sizes::INTEGER[][]) AS sizes, unnest($texts::VARCHAR[]) AS text
        )
    )
"""
# The clicks of all blocks with their times, of which a block has the differences. A running sum over all of
# them takes a fraction of the time of one for each block. DuckDB keeps the order of rows by itself.
_TIMED = """
    SELECT * EXCLUDE (difference, before),
        (sum(difference) OVER (ROWS UNBOUNDED PRECEDING) - before)::BIGINT AS "at"
    FROM (
        SELECT n, before, unnest(clicks."at") AS difference{} FROM (
            FROM (
                SELECT *, coalesce(sum(list_sum(clicks."at")) OVER earlier, 0) AS before FROM staged_clicks
                WINDOW earlier AS (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            ){}
            ORDER BY n
        )
    )
"""
_FITS = "len({0}) = len(times) AND list_count({0}) = len(times) AND list_max({0}) < len({0}_table)"
_TEXTS = " || ".join(f"clicks.{name}_table" for name in _TABLES if name != "what")
# The same checks as in `unpack`.
_ODD = f"""
    SELECT n FROM (SELECT n, sizes, clicks."at" AS times, clicks.* EXCLUDE ("at"), clicks FROM staged_clicks)
    WHERE NOT coalesce(
        len(times) > 0 AND list_count(times) = len(times) AND list_sum(sizes) = len(times)
        AND {" AND ".join(_FITS.format(name) for name in _TABLES if name != "variant")}
        AND (variant IS NULL OR {_FITS.format("variant")})
        AND (visitor IS NULL OR len(visitor) = len(times))
        AND list_count(link_table) = len(link_table)
        AND list_bool_and(list_transform(what_table, lambda what:
            len(what) = {_OF_WHAT} AND what[3] IS NOT NULL AND what[6] IS NOT NULL))
        AND list_bool_and(
            list_transform(what_table, lambda what: coalesce(list_contains($outcomes, what[1]), false))
        )
        AND coalesce(list_max(list_transform({_TEXTS} || flatten(what_table), lambda text: length(text))), 0)
            <= {_LONGEST_TEXT},
        false
    )
    UNION
    SELECT n FROM ({_TIMED.format("", "")}) AS timed GROUP BY n
    HAVING min(timed."at") < 0 OR max(timed."at") > {_LATEST_MS}
        OR min(timed."at") // {DAY_MS} <> max(timed."at") // {DAY_MS}
"""
# Each value of a click is looked up in its block's table, by the position in the block.
_VALUES = {
    "part": "unnest(flatten(list_transform(list_zip(parts, sizes), lambda sized: "
    "list_resize([]::INTEGER[], sized[2], sized[1]))))",
    "link": looked_up("links", "clicks.link"),
    **{
        name: looked_up(f"list_transform(clicks.what_table, lambda what: {value})", "clicks.what")
        for name, value in {
            "outcome": "what[1]",
            "reason": "what[2]",
            "platform": "what[3]",
            "system": "what[4]",
            "browser": "what[5]",
            "kind": "what[6]",
        }.items()
    },
    **{
        name: looked_up(f"clicks.{name}_table", f"clicks.{name}")
        for name in ("country", "referrer", "variant")
    },
    "visitor": "unnest(clicks.visitor)",
}
_NUMBERS_OF_LINKS = numbers_of_links("staged_clicks", "n", "clicks.link_table")
_ROWS = f"""
    SELECT * EXCLUDE (n, part), part AS block, 1 AS weight FROM ({
    _TIMED.format("".join(f", {value} AS {name}" for name, value in _VALUES.items()), _NUMBERS_OF_LINKS)
}) WHERE part IS NOT NULL
"""


class _StagedBlock(NamedTuple):
    """A block as it goes to DuckDB, and the rows of `blocks` for those of its parts that are new.

    A block that was never merged has one part with all of its clicks.
    """

    id: str
    packed: bytes
    text: str
    parts: list[int | None]
    sizes: list[int] | None
    rows: list[tuple[int, str, int]]
    clicks: int


class StagedClicks:
    """Clicks of blocks that are not in the tables yet, ready to be put there.

    `unreadable` are the ids of blocks that can't be read, and are left out. Only one is there at a time.
    """

    def __init__(self, connection: DuckDBPyConnection, documents: Iterable[Document]) -> None:
        """All are to go into one catalogue.

        Not within a transaction: a block that can't be read would end it.
        """
        self.unreadable: list[str] = []
        self._connection = connection
        self._blocks: list[_StagedBlock] = []
        if new := _new_of(connection, {document["_id"]: document for document in documents}.values()):
            self._stage(new)

    def insert(self, catalog: str) -> None:
        """Put the clicks into the tables of this catalogue, in a transaction of their own."""
        if not self._blocks:
            return
        connection = self._connection
        number_links(connection, "SELECT unnest(clicks.link_table) AS id FROM staged_clicks")
        stage(connection, "staged_blocks", _BLOCK, [row for block in self._blocks for row in block.rows])
        with transaction(connection):
            connection.execute(f"INSERT INTO {catalog}.clicks BY NAME {_ROWS}")
            connection.execute(f"INSERT INTO {catalog}.blocks FROM staged_blocks")
        unstage(connection, "staged_clicks")

    def _stage(self, new: Sequence[_StagedBlock]) -> None:
        if sum(block.clicks for block in new) <= _MOST_CHECKED_IN_PYTHON:
            self._blocks = self._readable(new, _checked)
            self._unpack()
            return
        self._blocks = self._readable(new, _unchecked)
        if odd := self._unpack_and_look():
            self._blocks = self._readable(
                self._blocks, lambda block: _checked(block) if block in odd else block
            )
            self._unpack()

    def _readable(
        self, new: Iterable[_StagedBlock], read: Callable[[_StagedBlock], _StagedBlock]
    ) -> list[_StagedBlock]:
        """The blocks that `read` can read, as it returns them. The others are logged and left out."""
        readable = []
        for block in new:
            try:
                readable.append(read(block))
            except UnreadableBlock as error:
                _logger.error("The block %s of clicks can't be read, and is not counted: %s", block.id, error)
                self.unreadable.append(block.id)
        return readable

    def _unpack_and_look(self) -> list[_StagedBlock]:
        """Let DuckDB read the blocks. Returns the blocks that fail a check."""
        outcomes = {"outcomes": [outcome.value for outcome in Outcome]}
        try:
            self._unpack()
            odd = self._connection.execute(_ODD, outcomes).fetchall()
        except _NOT_AS_EXPECTED:
            return self._blocks
        return [self._blocks[n] for (n,) in odd]

    def _unpack(self) -> None:
        self._connection.execute(
            _STAGE,
            {
                "ns": list(range(len(self._blocks))),
                "parts": [block.parts for block in self._blocks],
                "sizes": [block.sizes for block in self._blocks],
                "texts": [block.text for block in self._blocks],
            },
        )


def insert_blocks(columns: WrittenColumns, documents: Iterable[Document]) -> list[str]:
    """Put the clicks of these blocks into the tables. Returns the ids of those that can't be read."""
    by_catalog: defaultdict[str, list[Document]] = defaultdict(list)
    for day, of_day in groupby(sorted(documents, key=itemgetter("last_at")), _day_of):
        by_catalog[columns.clicks_of(day)] += of_day
    unreadable: list[str] = []
    for catalog, blocks in by_catalog.items():
        staged = StagedClicks(columns.connection, blocks)
        staged.insert(catalog)
        unreadable += staged.unreadable
    return unreadable


def count_clicks(connection: DuckDBPyConnection) -> int:
    """How many clicks are in the tables, as requests that are told apart."""
    [(clicks,)] = connection.execute("SELECT count(*) FROM clicks").fetchall()
    return int(clicks)


def weight_of(block: Document) -> float:
    """How much of what one transaction adds is this block."""
    return max(int(block["clicks"]) / CLICKS_PER_TRANSACTION, 1 / _BLOCKS_PER_TRANSACTION)


def _day_of(block: Document) -> int:
    return milliseconds(block["last_at"]) // DAY_MS


def _new_of(connection: DuckDBPyConnection, documents: Collection[Document]) -> list[_StagedBlock]:
    """The blocks among these that have clicks which are not in the tables yet."""
    days = {document["_id"]: _day_of(document) for document in documents}
    ids = [part.id for document in documents for part in parts_of(document)]
    if not ids:
        return []
    counted = connection.execute(
        "SELECT id FROM blocks WHERE day BETWEEN $first AND $last AND id IN (SELECT unnest($ids))",
        {"first": min(days.values()), "last": max(days.values()), "ids": ids},
    ).fetchall()
    last = connection.execute("SELECT greatest(max(block), 0) FROM blocks").fetchone()
    assert last
    numbers = count(last[0] + 1)
    there = {block_id for (block_id,) in counted}
    blocks = [_staged_block(document, days[document["_id"]], there, numbers) for document in documents]
    return [block for block in blocks if block.rows]


def _staged_block(document: Document, day: int, there: set[str], numbers: Iterator[int]) -> _StagedBlock:
    parts = parts_of(document)
    numbered = [None if part.id in there else next(numbers) for part in parts]
    # While blocks are merged, one may be read alone, and in the larger one.
    there.update(part.id for part in parts)
    sizes = [part.clicks for part in parts] if "parts" in document else None
    rows = [(number, part.id, day) for number, part in zip(numbered, parts, strict=True) if number]
    return _StagedBlock(document["_id"], document["packed"], "", numbered, sizes, rows, document["clicks"])


def _unchecked(block: _StagedBlock) -> _StagedBlock:
    """The block with its stored JSON, plus the columns that most blocks lack. Raises UnreadableBlock."""
    text = json_in(block.packed).decode("utf-8", "replace")
    if '"visitor":' not in text:
        text = f'{text[:-1]},"visitor":null}}'
    if '"variant_table":' not in text:
        text = f'{text[:-1]},"variant_table":[null],"variant":null}}'
    return block._replace(text=text)


def _checked(block: _StagedBlock) -> _StagedBlock:
    """The block with JSON written from its columns, which are checked in Python. Raises UnreadableBlock."""
    columns = unpack(block.packed)
    if block.sizes and sum(block.sizes) != len(columns.at):
        raise UnreadableBlock("its parts have other clicks")
    written = {
        "at": [columns.at[0], *(after - before for before, after in pairwise(columns.at))],
        "what_table": columns.whats,
        "link_table": columns.links,
        "country_table": columns.countries,
        "referrer_table": columns.referrers,
        "variant_table": columns.variants,
        **{name: getattr(columns, name) for name in (*_TABLES, "visitor")},
    }
    return block._replace(text=json.dumps(written))
