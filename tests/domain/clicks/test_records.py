"""Lines of a click log: what is written is read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backend.domain.apps.deferred_links import Handoff
from backend.domain.clicks.clicks import client_fragment, parse_record, record_line
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.web.client import Client, ClientKind, Platform

HANDOFF = Handoff("com.example.shop", "ab" * 32, datetime(2026, 1, 31, 13, tzinfo=UTC))


def line(visitor: int | None, handoff: Handoff | None, variant: str | None = None) -> bytes:
    """A record with this visitor, handoff and variant."""
    return record_line(
        OrgId("org"),
        LinkId("link"),
        client_fragment(Client(ClientKind.BROWSER, Platform.IOS)),
        at=datetime(2026, 1, 31, 12, tzinfo=UTC),
        outcome=Outcome.APP_STORE,
        reason=None,
        country="DE",
        referrer_host=None,
        visitor=visitor,
        variant=variant,
        handoff=handoff,
    )


def changed_line(change: Any) -> bytes:
    """A record whose fields `change` has changed."""
    fields = json.loads(line(7, HANDOFF))
    change(fields)
    return json.dumps(fields).encode()


@given(
    some.none() | some.integers(0, HIGHEST_HASH),
    some.sampled_from([None, HANDOFF]),
    some.sampled_from([None, "", "A", '"}]']),
)
def test_what_may_be_absent_is_read_as_written(
    visitor: int | None, handoff: Handoff | None, variant: str | None
) -> None:
    """With and without each of visitor, handoff and variant."""
    click = parse_record(line(visitor, handoff, variant))
    assert (click.visitor, click.handoff, click.variant) == (visitor, handoff, variant)


@pytest.mark.parametrize("place", [-2, slice(-2, None)], ids=["before a handoff", "at the end"])
def test_a_line_without_a_visitor_s_place_is_refused(place: Any) -> None:
    """Where nobody is known, the line says so."""
    with pytest.raises(ValueError, match="visitor"):
        parse_record(changed_line(lambda fields: fields.__delitem__(place)))


@pytest.mark.parametrize("visitor", [-1, HIGHEST_HASH + 1, 1.0, True, "7", {}])
def test_a_visitor_that_is_no_hash_is_refused(visitor: Any) -> None:
    """A bad line is set aside whole."""
    with pytest.raises(ValueError, match="visitor"):
        parse_record(changed_line(lambda fields: fields.__setitem__(-2, visitor)))
