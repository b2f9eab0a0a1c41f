"""Where a visit came from: what the signals in its address mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.visitors.sources import source_of

START = datetime(2026, 1, 1, tzinfo=UTC)
LINK = Link(
    LinkId("l"),
    OrgId("o"),
    "d",
    "p",
    "https://x.example",
    "n",
    START,
    START,
    utm={"utm_source": "a", "utm_term": "t"},
)


def test_a_visit_without_signals_is_organic() -> None:
    """No signal, no context, no touch."""
    source = source_of({}, None)
    assert (source.context(), source.touch(START)) == (None, None)


def test_the_address_stands_over_the_link() -> None:
    """A link gives its UTM fields, and the address's own replace those it has."""
    source = source_of({"cl_link_id": "l", "utm_source": "b"}, LINK)
    assert source.utm == {"utm_source": "b", "utm_term": "t"}
    made = source.touch(START)
    assert made is not None
    assert made.link_id == "l"


def test_a_variant_of_the_link_s_own() -> None:
    """It is part of the touch; one that the link's rules don't have, or without a link, counts as none."""
    part = {"name": "A", "weight": 1, "destination_url": "https://a.example"}
    link = replace(LINK, rules=[{"if": {}, "then": {"split": [part, part | {"name": "B"}]}}])
    for signals, variant in (({"cl_variant": "A"}, "A"), ({"cl_variant": "C"}, None), ({}, None)):
        made = source_of({"cl_link_id": "l"} | signals, link).touch(START)
        assert made is not None
        assert made.variant == variant
    assert source_of({"cl_variant": "A"}, None).is_organic
