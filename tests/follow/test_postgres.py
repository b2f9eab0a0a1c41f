"""What a feed becomes in PostgreSQL: rows, views by type, and nothing of who was erased."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import psycopg
import pytest

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import START
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.follow import event_fields
from backend.follow.postgres.target import PostgresTarget
from backend.follow.target import FollowedFeed, TargetTaken
from tests.document_blocks import Block, blocks
from tests.follow.made_events import AT, ORG, conversion, erased, event, refund
from tests.processes.postgresql import query

ALL = FollowedFeed(ORG, USUAL_TYPES, START)
HASH = "a" * 64
SQL = [
    block
    for block in blocks()
    if (block.page, block.kind) == ("docs/follow.md", "sql") and "waylink_" in block.text  # not ClickHouse's
]


@pytest.fixture
async def target(warehouse: str) -> AsyncIterator[PostgresTarget]:
    """An empty database as a target, which is open."""
    target = PostgresTarget(warehouse)
    await target.open(ALL)
    yield target
    await target.close()


def ids(events: Sequence[Event]) -> list[str]:
    """Their ids."""
    return [stored.id for stored in events]


def stored(address: str) -> list[str]:
    """The ids of all rows, in the order of the feed."""
    return [row_id for (row_id,) in query(address, "SELECT id FROM waylink_events ORDER BY place, index")]


async def test_a_person_is_erased_here_too(target: PostgresTarget, warehouse: str) -> None:
    """Rows of the person are deleted in the transaction that has the erasure, with refunds of their sales.

    The erasure stays without naming anybody, and so do others' rows, and what the person does later.
    """
    sale, other = conversion(customer_id="ann"), conversion(customer_id="bob")
    theirs = [
        sale,
        refund(sale),
        event(EventType.LEAD, id="1", customer_id=None, device_id="d1"),
        event(EventType.LEAD, id="2", customer_id=None, device_id=None, email_sha256=HASH),
        event(EventType.IDENTIFY, customer_id="anne", device_id=None, emails_sha256=[HASH]),
        event(EventType.INSTALL, install_id="i1", link_id=None),
        event(EventType.EVENT, AT + timedelta(hours=1), customer_id=None, device_id="shared"),
    ]
    others = [
        other,
        refund(other),
        event(EventType.EVENT, AT + timedelta(hours=3), customer_id=None, device_id="shared"),
        event(EventType.EVENT, AT + timedelta(hours=1), customer_id="bob", device_id="shared"),
        event(EventType.CLICK, link_id="L"),
    ]
    times = [{"from": AT.isoformat(), "to": (AT + timedelta(hours=2)).isoformat()}]
    erasure = erased(
        customers=["ann"],
        devices=["d1"],
        shared_devices=[{"device_id": "shared", "times": times}],
        emails_sha256=[HASH],
        installs=["i1"],
    )
    later = conversion(customer_id="ann")
    await target.write(theirs[:3], theirs[2].cursor)
    await target.write([*theirs[3:], *others, erasure, later], later.cursor)
    assert stored(warehouse) == ids([*others, erasure, later])
    assert query(warehouse, "SELECT data FROM waylink_events WHERE type = 'erased'") == [({},)]


async def test_an_erasure_is_followed_whatever_is_asked_for(warehouse: str) -> None:
    """Who follows sales alone is told of erasures too, and stores no row for them."""
    target = PostgresTarget(warehouse)
    assert EventType.ERASED in target.needs
    await target.open(FollowedFeed(ORG, frozenset({EventType.CONVERSION}), START))
    sale, erasure = conversion(customer_id="ann"), erased(customers=["ann"])
    await target.write([sale], sale.cursor)
    await target.write([erasure], erasure.cursor)
    await target.close()
    assert stored(warehouse) == []


async def test_a_view_has_columns_with_types(target: PostgresTarget, warehouse: str) -> None:
    """Of each type there is a view: amounts can be added, times compared, and refunds joined with sales."""
    touch = {"at": "2026-05-01T00:00:00.000Z", "link_id": "L", "variant": None, "utm": {"utm_source": "mail"}}
    sale = conversion(touch=touch, device_id="d")
    back = refund(sale)
    link = event(EventType.LINK_CREATED, link={"id": "L", "tags": ["spring"], "is_enabled": True}, changed=[])
    await target.write([link, sale, back], back.cursor)
    assert query(
        warehouse,
        """SELECT revenue - amount, touch_utm_source, touch_at < c.at, metadata ->> 'color', l.link_tags
        FROM waylink_conversions c
        JOIN waylink_refunds r USING (conversion_id)
        JOIN waylink_links_created l ON l.link_id = c.touch_link_id""",
    ) == [(Decimal("50.00"), "mail", True, "red", ["spring"])]
    assert query(warehouse, "SELECT link_id FROM waylink_events WHERE type = 'link.created'") == [("L",)]


async def test_a_view_gets_columns_that_are_new(warehouse: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a later version knows stands behind the columns that are there, whatever its own order."""
    whole = event_fields.fields_of
    with monkeypatch.context() as former:
        former.setattr("backend.follow.postgres.tables.fields_of", lambda type_: whole(type_)[:1:-1])
        target = PostgresTarget(warehouse)
        await target.open(ALL)
        await target.close()
    with psycopg.connect(warehouse) as connection:
        connection.execute("CREATE VIEW mine AS SELECT revenue FROM waylink_conversions")
    await target.open(ALL)
    await target.close()
    with psycopg.connect(warehouse) as connection:
        columns = [
            column.name for column in connection.execute("TABLE waylink_conversions").description or ()
        ]
    assert columns[-2:] == ["conversion_id", "told_by"]
    assert query(warehouse, "TABLE mine") == []


@pytest.mark.parametrize("block", SQL, ids=lambda block: block.where)
async def test_what_the_page_asks(block: Block, target: PostgresTarget, warehouse: str) -> None:
    """Each query of docs/follow.md gives rows, and revenue counts once, after those refunds that count."""
    touch = {"at": "2026-05-01T00:00:00.000Z", "utm": {"utm_campaign": "spring"}}
    sale = conversion(touch=touch)
    again = conversion(id=sale.data["id"], touch=touch, told_again=True)
    click = event(EventType.CLICK, datetime.now(UTC), counted=True, short_url="https://go/a", country="DE")
    back, too_much = refund(sale), refund(sale, id="refund-2", amount="9000", currency="JPY")
    small = conversion(touch=touch, revenue="5.00")
    all_of_it = refund(small, id="refund-3")
    await target.write([sale, again, click, back, too_much, small, all_of_it], all_of_it.cursor)
    rows = query(warehouse, block.text)
    assert rows
    if "AS net" in block.text:
        assert [(campaign, sales, net) for _, campaign, _, sales, net in rows] == [
            ("spring", 2, Decimal("50.00"))
        ]


async def test_what_texts_hold(target: PostgresTarget, warehouse: str) -> None:
    """Whatever visitors make up is stored; of all characters only U+0000, which PostgreSQL does not take, is
    replaced."""
    odd = event(EventType.LEAD, name='a\0\\u0000"\t\n\\.😀', metadata={"\0": ["\0"]})
    await target.write([odd], odd.cursor)
    assert query(warehouse, "SELECT data FROM waylink_events") == [
        ({"name": 'a�\\u0000"\t\n\\.😀', "metadata": {"�": ["�"]}},)
    ]


async def test_nobody_else_moves_the_cursor(target: PostgresTarget, warehouse: str) -> None:
    """Where somebody else has moved the cursor all the same, nothing is written."""
    with psycopg.connect(warehouse) as connection:
        connection.execute("UPDATE waylink_cursors SET cursor = '7.0'")
    sale = conversion()
    with pytest.raises(TargetTaken):
        await target.write([sale], sale.cursor)
    assert stored(warehouse) == []


async def test_a_database_that_can_not_be_used(warehouse: str) -> None:
    """Who may not make tables, or names none, is told so; the password is not shown."""
    with psycopg.connect(warehouse) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM public")
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
    for address, message in (
        (warehouse.replace("waylink@", "reader@"), "The role needs CREATE"),
        (f"{warehouse}?options=-csearch_path%3Dnone", "names no schema"),
        ("postgresql://waylink:secret@127.0.0.1:1/none", "check --to"),
    ):
        target = PostgresTarget(address)
        with pytest.raises(OperatorError, match=message) as error:
            await target.open(ALL)
        await target.close()
        assert "secret" not in str(error.value)
