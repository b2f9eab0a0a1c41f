"""Days of clicks that are added up: nothing is lost but what is said to be, and nothing else is read."""

from __future__ import annotations

import json
import random
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.clicks import summary as summary_module
from backend.domain.clicks.block import block_of
from backend.domain.clicks.block import unpack as unpack_block
from backend.domain.clicks.clicks import Click
from backend.domain.clicks.summary import DaySum, Summary, UnreadableSummary, json_of, unpack
from backend.domain.clicks.visitor_numbers import HIGHEST_NUMBER, VisitorNumbers
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from tests.facts.click_summaries import all_visitors, counted_one_by_one, in_summaries
from tests.facts.clicks import click

ORG = OrgId("o")
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
DAY = (MIDNIGHT - datetime(1970, 1, 1, tzinfo=UTC)).days
NUMBERS = VisitorNumbers(b"key")
NAMES = st.sampled_from(["", "Chrome", "Größe", 'a"b', "Linux"])
CLICKS = st.builds(
    click,
    st.just(ORG),
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 86_399_999).map(lambda ms: MIDNIGHT + timedelta(milliseconds=ms)),
    outcome=st.sampled_from(Outcome),
    reason=st.sampled_from([None, None, "crawler"]),
    platform=st.sampled_from(["ios", "desktop"]),
    system=NAMES,
    browser=NAMES,
    country=st.none() | st.sampled_from(["DE", "FR"]),
    referrer_host=st.none() | st.sampled_from(["news.example", "t.co"]),
    visitor=st.none() | st.sampled_from([0, 7, 8, HIGHEST_NUMBER]),
    variant=st.none() | st.sampled_from(["A", "", "Größe"]),
)


def added_up(clicks: list[Click], blocks: int = 1, most: int = 50_000) -> list[Summary]:
    """The summaries of these clicks, which come in so many blocks."""
    added = DaySum(DAY)
    for start in range(blocks):
        if part := clicks[start::blocks]:
            added.add(unpack_block(block_of(ORG, part).packed))
    return added.summaries(NUMBERS, most)


@given(st.lists(CLICKS, min_size=1), st.integers(1, 4), st.randoms(use_true_random=False))
def test_nothing_is_lost(clicks: list[Click], blocks: int, order: random.Random) -> None:
    """Every request is in a row of its kind, and visitors stay distinct, in whatever order clicks come."""
    [summary] = added_up(clicks, blocks)
    assert in_summaries([unpack(summary.packed)]) == counted_one_by_one(clicks)
    assert summary.day == DAY
    assert summary.clicks == unpack(summary.packed).clicks == len(clicks)
    assert all_visitors([unpack(summary.packed)]) == len({clicked.visitor for clicked in clicks} - {None})
    order.shuffle(clicks)
    assert added_up(clicks) == [summary]


@given(st.lists(CLICKS, min_size=1), st.integers(1, 5))
def test_large_days_are_several_summaries(clicks: list[Click], most: int) -> None:
    """None has more rows than it may, nor more pairs; together they have what one has."""
    parts = [unpack(summary.packed) for summary in added_up(clicks, most=most)]
    assert in_summaries(parts) == counted_one_by_one(clicks)
    assert all(max(len(part.weight), len(part.visitor)) <= most for part in parts)


def test_long_texts_are_several_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the texts are that strangers send, a summary stays small enough for a document."""
    assert summary_module._LARGEST < 16 * 2**20  # what a document may have
    monkeypatch.setattr(summary_module, "_LARGEST", 500_000)
    hosts = [f"{number:05}" + "ö" * 500 for number in range(250)]
    clicks = [
        click(ORG, LinkId("a"), MIDNIGHT, referrer_host=host, visitor=n) for n, host in enumerate(hosts)
    ]
    summaries = added_up(clicks, blocks=4)
    assert len(summaries) == 2
    assert in_summaries([unpack(summary.packed) for summary in summaries]) == counted_one_by_one(clicks)


def test_what_of_a_click_is_left() -> None:
    """Of the time the quarter of an hour, of a visitor a number that the hash does not say, and no more."""
    at = MIDNIGHT + timedelta(hours=23, minutes=59, milliseconds=59_999)
    [summary] = added_up([click(ORG, LinkId("a"), at, visitor=7)] * 3)
    assert json.loads(json_of(summary.packed)) == {
        "day": DAY,
        "quarter": [95],
        "weight": [3],
        "visitor": [NUMBERS.of(7)],
        "visitor_link": [0],
        "link_table": ["a"], "link": [0],
        "what_table": [["web", None, "desktop", "Linux", "Firefox"]], "what": [0],
        "country_table": [None], "country": [0],
        "referrer_table": [None], "referrer": [0],
        "variant_table": [None], "variant": [0],
    }  # fmt: skip
    assert NUMBERS.of(7) != 7


@given(st.sets(st.integers(0, HIGHEST_NUMBER)), st.binary(min_size=1, max_size=32))
def test_each_hash_has_a_number_of_its_own(hashes: set[int], key: bytes) -> None:
    """With the same key the same one, within the range."""
    numbers = {VisitorNumbers(key).of(hashed) for hashed in hashes}
    assert len(numbers) == len(hashes)
    assert all(0 <= number <= HIGHEST_NUMBER for number in numbers)


def test_numbers_stay() -> None:
    """Summaries of a day are made at several times, by any host and version: a key gives always the same."""
    assert [VisitorNumbers(bytes(32)).of(hashed) for hashed in (0, 1, 2**31)] == [
        1786569358, 2653815362, 2816457714
    ]  # fmt: skip


COLUMNS: dict[str, Any] = {
    "day": 5, "quarter": [0, 95], "weight": [1, 2],
    "link": [0, 1], "what": [0, 0], "country": [0, 0], "referrer": [0, 0], "variant": [0, 0],
    "link_table": ["a", "b"], "what_table": [["web", None, "ios", "", ""]],
    "country_table": [None, "DE"], "referrer_table": ["t.co"], "variant_table": [None],
    "visitor_link": [0, 0, 1], "visitor": [1, 5, 1],
}  # fmt: skip


def forged(**change: Any) -> bytes:
    """A summary with these columns instead of its own."""
    return b"\x81" + zlib.compress(json.dumps(COLUMNS | change).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"day": -1}, {"day": 10**7}, {"day": "5"}, {"day": True}, {"day": None},
        {"quarter": [0, 96]}, {"quarter": [-1, 0]}, {"quarter": [0]}, {"quarter": [0, 1.0]},
        {"weight": [0, 1]}, {"weight": [1, 2**32]}, {"weight": [1, True]}, {"weight": "12"}, {"weight": 12},
        {"link": [0, 2]}, {"link": [0, -1]}, {"link": [1, 0]}, {"link": [0, 0], "quarter": [7, 7]},
        {"link_table": ["a", None]}, {"link_table": ["b", "a"]}, {"link_table": ["a", "a"]},
        {"link_table": ["a", 5]}, {"link_table": ["a", "\ud800"]}, {"link_table": ["a", "x" * 1000]},
        {"what_table": [["x", None, "", "", ""]]}, {"what_table": [["web", None, "", ""]]},
        {"what_table": [["web", None, None, "", ""]]}, {"what_table": [["web", None, "", "", "", ""]]},
        {"what_table": [5]}, {"country_table": ["DE", None]}, {"variant_table": [5]}, {"variant_table": []},
        {"visitor": [1, 5]}, {"visitor": [5, 1, 1]}, {"visitor": [1, 1, 1]}, {"visitor": [-1, 5, 1]},
        {"visitor": [1, 2**32, 1]}, {"visitor_link": [0, 0, 2]}, {"visitor_link": [1, 0, 0]},
        {name: [] for name in COLUMNS if name != "day" and "table" not in name},
        {"visitor_link": [0] * 50_001, "visitor": [*range(50_001)]},
        {"visitor_link": {}, "visitor": {}},
    ],
)  # fmt: skip
def test_columns_that_are_not_as_we_write_them(change: dict[str, Any]) -> None:
    """Whatever somebody has put into a summary, it is read as it should be or not at all."""
    assert unpack(forged()).clicks == 3
    for read in (unpack, json_of):
        with pytest.raises(UnreadableSummary):
            read(forged(**change))


@pytest.mark.parametrize("name", COLUMNS)
def test_no_column_can_be_missing(name: str) -> None:
    """What lacks one is not read."""
    columns = {other: column for other, column in COLUMNS.items() if other != name}
    with pytest.raises(UnreadableSummary):
        unpack(b"\x81" + zlib.compress(json.dumps(columns).encode()))


def test_bytes_that_are_no_summary() -> None:
    """Cut off, of another format, with something behind, or larger than any summary: not read."""
    [good] = [summary.packed for summary in added_up([click(ORG, LinkId("a"), MIDNIGHT)])]
    bomb = b"\x81" + zlib.compress(b" " * 16_000_000 + zlib.decompress(good[1:]))
    block = block_of(ORG, [click(ORG, LinkId("a"), MIDNIGHT)]).packed
    for bad in (b"", good[:-5], good + b"x", b"\x82" + good[1:], good[1:], bomb, block, forged()[:1]):
        with pytest.raises(UnreadableSummary):
            unpack(bad)
