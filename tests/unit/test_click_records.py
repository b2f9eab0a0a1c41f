"""Lines of a click log: what is written is read, of this version and of the former one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backend.domain.clicks import client_fragment, parse_record, record_line
from backend.domain.client import Client, ClientKind, Platform
from backend.domain.deferred_links import Handoff
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.domain.visitors import HIGHEST_HASH

HANDOFF = Handoff("com.example.shop", "ab" * 32, datetime(2026, 1, 31, 13, tzinfo=UTC))


def line(visitor: int | None, handoff: Handoff | None) -> bytes:
    """A record with this visitor and handoff."""
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
        handoff=handoff,
    )


def changed_line(change: Any) -> bytes:
    """A record whose fields `change` has changed."""
    fields = json.loads(line(7, HANDOFF))
    change(fields)
    return json.dumps(fields).encode()


@given(some.none() | some.integers(0, HIGHEST_HASH), some.sampled_from([None, HANDOFF]))
def test_visitor_and_handoff_are_read_as_written(visitor: int | None, handoff: Handoff | None) -> None:
    """With and without either of them."""
    click = parse_record(line(visitor, handoff))
    assert (click.visitor, click.handoff) == (visitor, handoff)


def test_lines_of_the_former_version_are_read() -> None:
    """They have no visitor. A log on disk outlives an upgrade."""
    without_visitor = parse_record(changed_line(lambda fields: fields.pop(-2)))
    assert (without_visitor.visitor, without_visitor.handoff) == (None, HANDOFF)
    without_both = parse_record(changed_line(lambda fields: fields.__delitem__(slice(-2, None))))
    assert (without_both.visitor, without_both.handoff) == (None, None)


@pytest.mark.parametrize("visitor", [-1, HIGHEST_HASH + 1, 1.0, True, "7", {}])
def test_a_visitor_that_is_no_hash_is_refused(visitor: Any) -> None:
    """A bad line is set aside whole."""
    with pytest.raises(ValueError, match="visitor"):
        parse_record(changed_line(lambda fields: fields.__setitem__(-2, visitor)))
