"""Clicks as rows, out of blocks: these go to DuckDB as the JSON that they hold, and DuckDB does the rest.

That takes a fraction of the time of making clicks in Python. What a block holds is looked at no less
thoroughly than by `click_block.unpack`; where anything is odd, that decides.
"""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import NamedTuple

import duckdb
from duckdb import DuckDBPyConnection

from backend.domain.clicks.block import DAY_MS, UnreadableBlock, json_in, unpack
from backend.domain.links.destinations.destination import Outcome
from backend.storage.clicks.blocks import parts_of
from backend.storage.columns.rows.links import number_links
from backend.storage.columns.tables.staged import milliseconds, stage, unstage
from backend.storage.driver.mongo import Document

# What is read of a block's document.
FIELDS = dict.fromkeys(("packed", "clicks", "last_at", "parts"), 1)
_TABLES = ("link", "what", "country", "referrer", "variant")
_LONGEST_TEXT, _LATEST_MS, _OF_WHAT = 512, 253_402_300_799_999, 6
_BLOCK = {"block": "INTEGER", "id": "VARCHAR", "day": "INTEGER"}
# Of so few clicks, each is looked at in Python.
_FEW_CLICKS = 2_000
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
        SELECT n, parts, sizes, from_json_strict(given, '{_SHAPE}') AS clicks FROM (
            SELECT unnest($ns::INTEGER[]) AS n, unnest($parts::INTEGER[][]) AS parts,
                unnest($sizes::INTEGER[][]) AS sizes, unnest($texts::VARCHAR[]) AS given
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
# What `click_block.unpack` looks at, too.
_ODD = f"""
    SELECT n FROM (SELECT n, sizes, clicks."at" AS times, clicks.* EXCLUDE ("at"), clicks FROM staged_clicks)
    WHERE NOT coalesce(
        len(times) > 0 AND list_count(times) = len(times) AND list_sum(sizes) = len(times)
        AND {" AND ".join(_FITS.format(name) for name in _TABLES if name != "variant")}
        AND (variant IS NULL OR {_FITS.format("variant")})
        AND (visitor IS NULL OR len(visitor) = len(times))
        AND list_count(link_table) = len(link_table)
        AND list_bool_and(list_transform(what_table, lambda what: len(what) = {_OF_WHAT}))
        AND list_bool_and(
            list_transform(what_table, lambda what: coalesce(list_contains($outcomes, what[1]), false))
        )
        AND coalesce(list_max(list_transform({_TEXTS} || flatten(what_table), lambda each: length(each))), 0)
            <= {_LONGEST_TEXT},
        false
    )
    UNION
    SELECT n FROM ({_TIMED.format("", "")}) AS timed GROUP BY n
    HAVING min(timed."at") < 0 OR max(timed."at") > {_LATEST_MS}
        OR min(timed."at") // {DAY_MS} <> max(timed."at") // {DAY_MS}
"""
# Each value of a click is looked up in its block's table, by the position that the block has.
_LOOK_UP = "unnest(list_select({}, list_transform(clicks.{}, lambda position: position + 1)))"
_VALUES = {
    "part": "unnest(flatten(list_transform(list_zip(parts, sizes), lambda each: "
    "list_resize([]::INTEGER[], each[2], each[1]))))",
    "link": _LOOK_UP.format("links", "link"),
    **{
        name: _LOOK_UP.format(f"list_transform(clicks.what_table, lambda what: {value})", "what")
        for name, value in {
            "outcome": "what[1]",
            "reason": "what[2]",
            "platform": "coalesce(what[3], '')",
            "system": "coalesce(what[4], '')",
            "browser": "coalesce(what[5], '')",
            "kind": "coalesce(what[6], '')",
        }.items()
    },
    **{name: _LOOK_UP.format(f"clicks.{name}_table", name) for name in ("country", "referrer", "variant")},
    "visitor": "unnest(clicks.visitor)",
}
_NUMBERS_OF_LINKS = """
    JOIN (
        SELECT n, list(link ORDER BY position) AS links FROM (
            SELECT n, unnest(clicks.link_table) AS id, unnest(range(len(clicks.link_table))) AS position
            FROM staged_clicks
        ) JOIN links USING (id) GROUP BY n
    ) USING (n)
"""
_INSERT = f"""
    INSERT INTO clicks BY NAME
    SELECT * EXCLUDE (n, part), part AS block, 1 AS weight FROM ({
    _TIMED.format("".join(f", {value} AS {name}" for name, value in _VALUES.items()), _NUMBERS_OF_LINKS)
}) WHERE part IS NOT NULL
"""


class _Given(NamedTuple):
    """A block as it goes to DuckDB, and the rows of `blocks` for those of its parts that are new.

    Of one that was never merged, all clicks are its only part's.
    """

    id: str
    packed: bytes
    text: str
    parts: list[int | None]
    sizes: list[int] | None
    blocks: list[tuple[int, str, int]]
    clicks: int


class StagedClicks:
    """Clicks of blocks that are not in the tables yet, ready to be put there.

    `unreadable` are the ids of blocks that can't be read, and are left out. Only one is there at a time.
    """

    def __init__(self, connection: DuckDBPyConnection, documents: Iterable[Document]) -> None:
        """Not within a transaction: a block that can't be read would end it."""
        self.unreadable: list[str] = []
        self._connection = connection
        self._given: list[_Given] = []
        if new := _new_of(connection, {each["_id"]: each for each in documents}.values()):
            self._stage(new)

    def insert(self) -> None:
        """Put the clicks into the tables, in the caller's transaction."""
        if not self._given:
            return
        number_links(self._connection, "SELECT unnest(clicks.link_table) AS id FROM staged_clicks")
        self._connection.execute(_INSERT)
        stage(self._connection, "staged_blocks", _BLOCK, [row for each in self._given for row in each.blocks])
        self._connection.execute("INSERT INTO blocks FROM staged_blocks")
        unstage(self._connection, "staged_clicks")

    def _stage(self, new: Sequence[_Given]) -> None:
        if sum(each.clicks for each in new) <= _FEW_CLICKS:  # to look at them in SQL takes longer to plan
            self._given = self._those(new, _checked)
            self._unpack()
            return
        self._given = self._those(new, _unchecked)
        if odd := self._unpack_and_look():
            self._given = self._those(self._given, lambda each: _checked(each) if each in odd else each)
            self._unpack()

    def _those(self, new: Iterable[_Given], read: Callable[[_Given], _Given]) -> list[_Given]:
        """Those of the blocks that `read` can read, as it gives them."""
        found = []
        for each in new:
            try:
                found.append(read(each))
            except UnreadableBlock as error:
                _logger.error("The block %s of clicks can't be read, and is not counted: %s", each.id, error)
                self.unreadable.append(each.id)
        return found

    def _unpack_and_look(self) -> list[_Given]:
        """Let DuckDB read the blocks. Returns those that are not as they should be."""
        outcomes = {"outcomes": [each.value for each in Outcome]}
        try:
            self._unpack()
            odd = self._connection.execute(_ODD, outcomes).fetchall()
        except _NOT_AS_EXPECTED:
            return self._given
        return [self._given[n] for (n,) in odd]

    def _unpack(self) -> None:
        self._connection.execute(
            _STAGE,
            {
                "ns": list(range(len(self._given))),
                "parts": [each.parts for each in self._given],
                "sizes": [each.sizes for each in self._given],
                "texts": [each.text for each in self._given],
            },
        )


def _new_of(connection: DuckDBPyConnection, documents: Collection[Document]) -> list[_Given]:
    """Those of these blocks that have clicks which are not in the tables."""
    days = {each["_id"]: milliseconds(each["last_at"]) // DAY_MS for each in documents}
    ids = [part.id for each in documents for part in parts_of(each)]
    if not ids:
        return []
    known = connection.execute(
        "SELECT id FROM blocks WHERE day BETWEEN $first AND $last AND id IN (SELECT unnest($ids))",
        {"first": min(days.values()), "last": max(days.values()), "ids": ids},
    ).fetchall()
    found = connection.execute("SELECT greatest(max(block), 0) FROM blocks").fetchone()
    assert found
    numbers = count(found[0] + 1)
    there = {block_id for (block_id,) in known}
    given = [_given(each, days[each["_id"]], there, numbers) for each in documents]
    return [each for each in given if each.blocks]


def _given(document: Document, day: int, there: set[str], numbers: Iterator[int]) -> _Given:
    parts = parts_of(document)
    given = [None if part.id in there else next(numbers) for part in parts]
    # While blocks are merged, one may be read alone, and in the larger one.
    there.update(part.id for part in parts)
    sizes = [part.clicks for part in parts] if "parts" in document else None
    blocks = [(number, part.id, day) for number, part in zip(given, parts, strict=True) if number]
    return _Given(document["_id"], document["packed"], "", given, sizes, blocks, document["clicks"])


def _unchecked(given: _Given) -> _Given:
    """The block in its own words, with the columns that most blocks do not have. Raises UnreadableBlock."""
    found = json_in(given.packed).decode("utf-8", "replace")
    if '"visitor":' not in found:
        found = f'{found[:-1]},"visitor":null}}'
    if '"variant_table":' not in found:
        found = f'{found[:-1]},"variant_table":[null],"variant":null}}'
    return given._replace(text=found)


def _checked(given: _Given) -> _Given:
    """The block in the words of its columns, which are looked at in Python. Raises UnreadableBlock."""
    columns = unpack(given.packed)
    if given.sizes and sum(given.sizes) != len(columns.at):
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
    return given._replace(text=json.dumps(written))
