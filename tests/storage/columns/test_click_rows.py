"""Clicks as rows, out of blocks that are whole, merged, or damaged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bson import Binary
from duckdb import DuckDBPyConnection
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.clicks.block import DAY_MS, Block, block_of, merged, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.storage.clicks.blocks import fields_of
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.rows.clicks import insert_blocks
from backend.storage.driver.mongo import Document
from tests.examples import examples
from tests.facts.clicks import click
from tests.storage.analytics.tables import tables, written

ORG = OrgId("org")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_COLUMNS = (
    "outcome", "reason", "platform", "system", "browser", "client_kind",
    "country", "referrer_host", "variant", "visitor",
)  # fmt: skip
_TEXT = st.sampled_from(["a", "b", "é€", 'quo"te', "\x00", "😀"])
_CLICKS = st.builds(
    click,
    st.just(ORG),
    _TEXT.map(LinkId),
    st.integers(-43_200_000, 43_199_999).map(lambda number: NOON + timedelta(milliseconds=number)),
    outcome=st.sampled_from(Outcome),
    reason=st.none() | _TEXT,
    country=st.none() | _TEXT,
    referrer_host=st.none() | _TEXT,
    variant=st.none() | _TEXT,
    visitor=st.none() | st.integers(0, 2**32 - 1),
)


def document(block: Block, own_id: str, parts: Iterable[tuple[str, int]] = ()) -> Document:
    """The document of a block; with parts, of one that was merged from these."""
    merged_from = [{"id": part, "clicks": clicks} for part, clicks in parts]
    return {"_id": f"{ORG}/{own_id}", **fields_of(block), **({"parts": merged_from} if merged_from else {})}


def put(columns: DuckDBPyConnection, *documents: Document) -> list[str]:
    """Put these blocks into the tables. Returns which can't be read."""
    return insert_blocks(written(columns), documents)


def stored(columns: DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """The clicks that are there, each with its block."""
    return columns.execute(
        """
        SELECT blocks.id, clicks."at", links.id, outcome, reason, platform, system, browser, kind, country,
            referrer, variant, visitor
        FROM clicks JOIN links USING (link) JOIN blocks USING (block)
        WHERE weight = 1 AND clicks."at" // 86400000 = day
        ORDER BY ALL
        """
    ).fetchall()


def expected_rows(own_id: str, clicks: Iterable[Click]) -> list[tuple[Any, ...]]:
    """What is to be there of a block with these clicks."""
    return [
        (
            own_id,
            round(click.at.timestamp() * 1000),
            click.link_id,
            *(getattr(click, name) for name in _COLUMNS),
        )
        for click in clicks
    ]


def ordered(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows in the order of `stored`."""
    return sorted(rows, key=lambda row: [(value is None, value if value is not None else 0) for value in row])


@pytest.mark.parametrize("few", [0, 2_000])
@given(blocks=st.lists(st.lists(_CLICKS, min_size=1, max_size=5), min_size=1, max_size=5))
@settings(max_examples=examples(3))
def test_each_click_is_a_row(few: int, blocks: list[list[Click]]) -> None:
    """The rows of any blocks are their clicks, however the blocks come, and how often, and whether what they
    hold is looked at in Python, as of few clicks, or in SQL."""
    documents = [document(block_of(ORG, clicks), f"block-{n}") for n, clicks in enumerate(blocks)]
    expected = ordered(row for n, clicks in enumerate(blocks) for row in expected_rows(f"block-{n}", clicks))
    for groups in ([documents], [[block] for block in documents], [documents, documents[:1]]):
        with pytest.MonkeyPatch.context() as patch, tables() as columns:
            patch.setattr(click_rows, "_MOST_CHECKED_IN_PYTHON", few)
            for group in groups:
                assert put(columns, *group) == []
            assert ordered(stored(columns)) == expected


@given(parts=st.lists(st.lists(_CLICKS, min_size=1, max_size=4), min_size=2, max_size=5), data=st.data())
@settings(max_examples=examples(4))
def test_merged_blocks(parts: list[list[Click]], data: st.DataObject) -> None:
    """Of a block that was merged from others, those clicks become rows that are not there yet."""
    single = [document(block_of(ORG, clicks), f"part-{n}") for n, clicks in enumerate(parts)]
    whole = merged(ORG, (unpack(part["packed"]) for part in single))
    together = document(whole, "merged", [(f"part-{n}", len(clicks)) for n, clicks in enumerate(parts)])
    before = data.draw(st.lists(st.sampled_from(single), unique_by=lambda part: str(part["_id"])))
    with tables() as columns:
        assert put(columns, *before) + put(columns, together) + put(columns, *single) == []
        assert ordered(stored(columns)) == ordered(
            row for n, clicks in enumerate(parts) for row in expected_rows(f"part-{n}", clicks)
        )


def _damaged(name: str) -> bytes:
    """The bytes of a block of two clicks, with something wrong."""
    packed = block_of(ORG, [click(ORG, LinkId("link"), NOON), click(ORG, LinkId("other"), NOON)]).packed
    columns = json.loads(zlib.decompress(packed[1:]))
    changes: dict[str, Any] = {
        "a column too short": {"country": [0]},
        "a position outside of its table": {"link": [0, 7]},
        "a negative position": {"what": [0, -1]},
        "a link without id": {"link_table": ["a", None]},
        "a time of another day": {"at": [columns["at"][0], DAY_MS]},
        "no times": {"at": []},
        "no outcome": {"what_table": [[None, None, "a", "b", "c", "d"]]},
        "an unknown outcome": {"what_table": [["lost", None, "a", "b", "c", "d"]]},
        "too few of what it was": {"what_table": [["web", None]]},
        "a text that is too long": {"country_table": ["x" * 513]},
        "half a character": {"country_table": ["\ud800"]},
        "a visitor too many": {"visitor": [1, 2, 3]},
        "a visitor too large": {"visitor": [1, 2**32]},
        "a null among positions": {"referrer": [0, None]},
        "variants outside of their table": {"variant_table": ["a"], "variant": [0, 1]},
        "too few variants": {"variant_table": ["a"], "variant": [0]},
        "an object instead of a column": {"link": {}},
    }
    if name in changes:
        return b"\x01" + zlib.compress(json.dumps(columns | changes[name]).encode())
    others = {
        "cut off": packed[:-3],
        "another format": b"\x09" + packed[1:],
        "no JSON": b"\x01" + zlib.compress(b"{"),
    }
    return others[name]


DAMAGES = (
    "a column too short", "a position outside of its table", "a negative position", "a link without id",
    "a time of another day", "no times", "no outcome", "an unknown outcome", "too few of what it was",
    "a text that is too long", "half a character", "a visitor too many", "a visitor too large",
    "a null among positions", "variants outside of their table", "too few variants",
    "an object instead of a column", "cut off", "another format", "no JSON",
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("few", [0, 2_000])
def test_a_damaged_block_is_left_out(
    columns: DuckDBPyConnection, damage: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block that can't be read is left out and told of, and those beside it become rows."""
    monkeypatch.setattr(click_rows, "_MOST_CHECKED_IN_PYTHON", few)
    whole = [click(ORG, LinkId("link"), NOON, visitor=5)]
    damaged = document(block_of(ORG, whole), "damaged") | {"packed": Binary(_damaged(damage))}
    beside = [document(block_of(ORG, whole), f"whole-{n}") for n in range(2)]
    assert put(columns, beside[0], damaged, beside[1]) == [f"{ORG}/damaged"]
    assert ordered(stored(columns)) == ordered(
        (*expected_rows("whole-0", whole), *expected_rows("whole-1", whole))
    )


@pytest.mark.parametrize("few", [0, 2_000])
def test_parts_that_do_not_fit(
    columns: DuckDBPyConnection, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merged block whose parts have other clicks than it has is left out: nobody knows whose they are."""
    monkeypatch.setattr(click_rows, "_MOST_CHECKED_IN_PYTHON", few)
    block = block_of(ORG, [click(ORG, LinkId("link"), NOON)])
    assert put(columns, document(block, "merged", [("one", 1), ("two", 1)])) == [f"{ORG}/merged"]
    assert stored(columns) == []


@pytest.mark.parametrize("few", [0, 2_000])
def test_former_blocks(columns: DuckDBPyConnection, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block whose columns stand in another order, with more beside them, is read as any other."""
    monkeypatch.setattr(click_rows, "_MOST_CHECKED_IN_PYTHON", few)
    clicks = [click(ORG, LinkId("link"), NOON, variant="a", browser=None), click(ORG, LinkId("link"), NOON)]
    columns_of = json.loads(zlib.decompress(block_of(ORG, clicks).packed[1:]))
    written = json.dumps({"new": [1.5]} | dict(reversed(columns_of.items())), ensure_ascii=False, indent=1)
    former = document(block_of(ORG, clicks), "former") | {"packed": b"\x01" + zlib.compress(written.encode())}
    assert put(columns, former) == []
    assert ordered(stored(columns)) == ordered(expected_rows("former", clicks))
