"""Blocks of clicks: what goes in comes out, and nothing else is read."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.apps.deferred_links import Handoff
from backend.domain.clicks.block import Block, UnreadableBlock, block_of, merged, unpack
from backend.domain.clicks.clicks import Click, NotCounted, client_fragment, parse_record, record_line
from backend.domain.clicks.stretch import read_stretch
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.web.client import Client, ClientKind, Platform

AT = datetime(2026, 3, 1, 23, 59, 59, 500_000, UTC)
# Whole milliseconds, as blocks have them; near midnight, so that some are of another day.
TIMES = st.integers(-5_000, 5_000).map(lambda ms: datetime.fromtimestamp(AT.timestamp() + ms / 1000, UTC))
NAMES = st.sampled_from(["", "Chrome", "Größe", 'a"b', "x\\y", "a\nb", "Linux"])
LINES = st.builds(
    lambda org, link, at, name, **fields: record_line(
        OrgId(org), LinkId(link), client_fragment(Client(ClientKind.BROWSER, Platform.IOS, name, name)),
        at=at, **fields,
    ),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["a", "b", "c"]),
    TIMES,
    NAMES,
    outcome=st.sampled_from(Outcome),
    reason=st.none() | st.sampled_from(NotCounted),
    country=st.none() | st.sampled_from(["DE", "FR"]),
    referrer_host=st.none() | st.sampled_from(["news.example", "t.co"]),
    visitor=st.none() | st.sampled_from([0, 7, HIGHEST_HASH]),
    variant=st.none() | st.sampled_from(["A", "", 'a"},[1', "Größe"]),
    handoff=st.none() | st.just(Handoff("com.shop", "hash", AT)),
)  # fmt: skip
BAD = st.sampled_from(
    [
        b"\n", b"torn", b"[1]\n", b"\xff\x00\n", b'["o","l",1e300,"web",null,"","","","",null,null]\n',
        b'["o","l",1.000,"no outcome",null,"","","","",null,null]\n',
        b'["o","l",1.000,"web",null,"\\ud800","","","",null,null]\n',
        b'["o","l",1.000,"web",null,"","","","",null,null,[}]\n',
        b'["o","l",1.000,"web",null,"","","","",null,null,null,{"variant":5}]\n',
        b'["o","l",1.000,"web",null,"","","","",null,null,null,{}]\n',
    ]
)  # fmt: skip


def clicks_of(block: Block) -> list[Click]:
    """The clicks in a block."""
    return list(unpack(block.packed).clicks(block.org_id))


def without_handoff(click: Click) -> Click:
    """The click as a block has it."""
    return Click(**{name: getattr(click, name) for name in Click.__slots__} | {"handoff": None})


@given(st.lists(LINES | BAD))
def test_a_stretch_is_read_as_its_lines_are(lines: list[bytes]) -> None:
    """Whatever lines are side by side, blocks hold those that can be read, by organization and day."""
    expected, unreadable, handoffs = [], [], []
    stretch = b"".join(lines)
    for line in stretch.splitlines(keepends=True):
        try:
            click = parse_record(line)
        except ValueError:
            unreadable.append(line)
        else:
            expected.append(without_handoff(click))
            handoffs += [click] if click.handoff else []
    contents = read_stretch(stretch)
    assert sorted(map(repr, expected)) == sorted(
        repr(stored_click) for block in contents.blocks for stored_click in clicks_of(block)
    )
    assert [line for _, line in contents.unreadable] == unreadable
    assert all(stretch[place:].startswith(line) for place, line in contents.unreadable)
    assert contents.handoffs == handoffs
    keys = [(block.org_id, block.first_at.date()) for block in contents.blocks]
    assert len(set(keys)) == len(keys)
    for block in contents.blocks:
        times = [stored_click.at for stored_click in clicks_of(block)]
        assert (block.clicks, block.first_at, block.last_at) == (len(times), min(times), max(times))
        assert block.first_at.date() == block.last_at.date()


@given(st.lists(LINES, min_size=1))
def test_merged_blocks_hold_the_same_clicks(lines: list[bytes]) -> None:
    """Blocks of an organization and day become one with all of their clicks."""
    parts = [block for line in lines for block in read_stretch(line).blocks]
    [first, *_] = [(block.org_id, block.first_at.date()) for block in parts]
    parts = [block for block in parts if (block.org_id, block.first_at.date()) == first]
    block = merged(first[0], [unpack(part.packed) for part in parts])
    assert clicks_of(block) == [click for part in parts for click in clicks_of(part)]


COLUMNS: dict[str, Any] = {
    "at": [0, 5],
    "link": [0, 1], "what": [0, 0], "country": [0, 0], "referrer": [0, 0],
    "link_table": ["a", "b"], "what_table": [["web", None, "ios", "", "", "browser"]],
    "country_table": [None], "referrer_table": ["t.co"],
    "visitor": [5, None],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"at": []}, {"at": [-1, 5]}, {"at": [0, 86_400_000]}, {"at": [0.0, 1]}, {"at": [True, 1]},
        {"at": [10**30, 0]},
        {"link": [0]}, {"link": [0, 2]}, {"link": [0, -1]}, {"link": ["0", 1]},
        {"link_table": ["a", None]}, {"link_table": ["a", 5]}, {"link_table": ["a", "\ud800"]},
        {"link_table": ["a", "x" * 1000]},
        {"what_table": [["x", None, "", "", "", ""]]}, {"what_table": [["web", None]]}, {"what_table": [5]},
        {"visitor": [1]}, {"visitor": [1, 2**32]}, {"visitor": [-1, 0]}, {"visitor": [1, "2"]},
        {"visitor": [True, 1]},
        {"variant": [0, 1]}, {"variant_table": [5]}, {"variant_table": ["a"], "variant": [0]},
    ],
)  # fmt: skip
def test_columns_that_are_not_as_we_write_them(change: dict[str, Any]) -> None:
    """Whatever somebody has put into a block, it is read as it should be or not at all."""
    whole = b"\x01" + zlib.compress(json.dumps(COLUMNS).encode())
    assert [click.link_id for click in unpack(whole).clicks(OrgId("o"))] == ["a", "b"]
    with pytest.raises(UnreadableBlock):
        unpack(b"\x01" + zlib.compress(json.dumps(COLUMNS | change).encode()))


def test_bytes_that_are_no_block() -> None:
    """Cut off, of a newer format, with something behind, or larger than any block: not read."""
    good = block_of(OrgId("o"), unpack(read_stretch(LINE).blocks[0].packed).clicks(OrgId("o"))).packed
    bomb = b"\x01" + zlib.compress(b" " * 16_000_000 + zlib.decompress(good[1:]))
    for bad in (
        b"",
        good[:-5],
        good + b"x",
        b"\x02" + good[1:],
        good[1:],
        bomb,
        b"\x01" + zlib.compress(b"{}"),
    ):
        with pytest.raises(UnreadableBlock):
            unpack(bad)


LINE = record_line(
    OrgId("o"), LinkId("a"), client_fragment(Client(ClientKind.BROWSER, Platform.IOS)), at=AT,
    outcome=Outcome.WEB, reason=None, country=None, referrer_host=None,
)  # fmt: skip
