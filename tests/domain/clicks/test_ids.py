"""Click ids: what they say, and that nobody else can make one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.clicks.block import block_of, unpack
from backend.domain.clicks.clicks import Click, client_fragment, parse_record, record_line
from backend.domain.clicks.ids import click_id, is_at, link_beginning, read_click_id, variant_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.web.client import Client, ClientKind, Platform
from tests.examples import examples

KEY = bytes(range(32))
ORG, LINK = OrgId("org"), LinkId("0a1b2c3d-6a0b-4b8e-9a51-0d2f6f3f9c11")
AT = datetime(2026, 1, 31, 12, 0, 0, 123_456, tzinfo=UTC)
FACTS = st.fixed_dictionaries(
    {
        "country": st.none() | st.just("DE"),
        "referrer_host": st.none() | st.just("news.example"),
        "visitor": st.none() | st.integers(0, 2**32 - 1),
        "variant": st.none() | st.sampled_from(["b", 'ü"\\']),
    }
)
SYSTEMS = st.sampled_from(["", "Linux", 'Wïn"\\'])
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def line_of(at: datetime, system: str = "Linux", **facts: Any) -> bytes:
    """The line of a click that counts."""
    client = client_fragment(Client(ClientKind.BROWSER, Platform.DESKTOP, system, "Firefox"))
    usual = {"country": None, "referrer_host": None} | facts
    return record_line(ORG, LINK, client, at=at, outcome=Outcome.WEB, reason=None, **usual)


def stored(line: bytes) -> Click:
    """The click as a block gives it back."""
    [click] = unpack(block_of(ORG, [parse_record(line)]).packed).clicks(ORG)
    return click


@settings(max_examples=examples(30))
@given(TIMES, SYSTEMS, FACTS)
def test_an_id_names_the_click_in_its_block(at: datetime, system: str, facts: dict[str, Any]) -> None:
    """Whatever is known of the click, to the millisecond."""
    line = line_of(at, system, **facts)
    made = click_id(KEY, ORG, LINK, line).decode()
    place = read_click_id(KEY, ORG, LINK, made)
    assert place is not None
    click = stored(line)
    assert place.at == click.at
    assert is_at(KEY, click, place)


def test_the_same_click_has_the_same_id_in_every_version() -> None:
    """What was handed out is still found, and hosts of different versions hand out the same."""
    line = line_of(AT, country="DE", referrer_host="news.example", visitor=7)
    assert click_id(KEY, ORG, LINK, line) == b"AZwT7J57zJIPpQobLD0AAC1n1kU09H_4"
    varied = click_id(KEY, ORG, LINK, line_of(AT, variant="b"), variant="b")
    assert varied == b"AZwT7J57kxPOlwobLD16W1NE0xQigRhw"


def test_clicks_of_one_millisecond_are_told_apart() -> None:
    """By everything that is recorded of them."""
    lines = [line_of(AT, visitor=1), line_of(AT, visitor=2), line_of(AT, country="DE", visitor=1)]
    places = [read_click_id(KEY, ORG, LINK, click_id(KEY, ORG, LINK, line).decode()) for line in lines]
    matches = [[is_at(KEY, stored(line), place) for line in lines] for place in places if place]
    assert matches == [[row == column for column in range(3)] for row in range(3)]
    assert places[0] is not None
    assert not is_at(KEY, stored(lines[0]), replace(places[0], at=places[0].at + timedelta(milliseconds=1)))


def test_what_was_not_signed_is_no_id() -> None:
    """Of another link, organization or installation, changed in any place, cut, or of other characters."""
    made = click_id(KEY, ORG, LINK, line_of(AT)).decode()
    assert len(made) == 32
    assert read_click_id(KEY, ORG, LINK, made) is not None
    assert read_click_id(KEY, ORG, LinkId(f"{LINK[:-1]}2"), made) is None
    assert read_click_id(KEY, OrgId("other"), LINK, made) is None
    assert read_click_id(bytes(32), ORG, LINK, made) is None
    changed = [made[:at] + ("A" if made[at] != "A" else "B") + made[at + 1 :] for at in range(32)]
    for text in (*changed, "", made[:-1], f"{made}A", "é" * 32, " " * 32, "=" * 32, made[:28] + "===="):
        assert read_click_id(KEY, ORG, LINK, text) is None


def test_an_id_names_its_link_and_variant() -> None:
    """So a server that has nothing else can tell a sale by it; a variant that is gone counts as none."""
    plain = click_id(KEY, ORG, LINK, line_of(AT)).decode()
    varied = click_id(KEY, ORG, LINK, line_of(AT, variant="b"), variant="b").decode()
    assert link_beginning(plain) == link_beginning(varied) == LINK.partition("-")[0]
    assert [variant_of(text, {"a", "b"}) for text in (plain, varied)] == [None, "b"]
    assert variant_of(varied, {"a"}) is None
    assert [link_beginning(text) for text in ("", "é" * 32, f"{plain}A")] == [None] * 3
    assert read_click_id(KEY, ORG, LINK, varied) is not None
