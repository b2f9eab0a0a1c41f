"""What a feed becomes in ClickHouse: its engine runs what the target sends (docs/follow.md, "ClickHouse")."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.follow.clickhouse.target import ClickHouseTarget
from backend.follow.event_fields import fields_of
from backend.follow.target import FollowedFeed, TargetAway, TargetMismatch
from tests.follow.chdb_server import ChdbServer
from tests.follow.made_events import AT, ORG, conversion, erased, event, refund

ALL = FollowedFeed(ORG, USUAL_TYPES, START)


@pytest.fixture
def server(chdb_server: ChdbServer) -> ChdbServer:
    """The engine with an empty database."""
    return chdb_server


def rows(server: ChdbServer, question: str) -> list[list[Any]]:
    """What the engine answers."""
    answer = str(server.session.query(question.replace("FROM ", "FROM shop."), "JSONCompactEachRow"))
    return [json.loads(line) for line in answer.splitlines()]


def ids(server: ChdbServer) -> list[str]:
    """The ids of all events, in the feed's order."""
    return [
        event_id
        for (event_id,) in rows(server, "SELECT id FROM waylink_events FINAL ORDER BY place, `index`")
    ]


async def written(server: ChdbServer, *pages: list[Event]) -> Cursor:
    """Write these pages, as one run does. Returns where it began."""
    target = ClickHouseTarget(server.address)
    try:
        begin = await target.open(ALL)
        for page in pages:
            await target.write(page, page[-1].cursor)
        return begin
    finally:
        await target.close()


async def test_views_have_columns_of_their_kinds(server: ChdbServer) -> None:
    """Amounts are decimals, what has no column is in `more`; a second run changes nothing."""
    touch = {"link_id": "L", "utm": {"utm_source": "it's \\ new\tline"}}
    sale = conversion(AT + timedelta(milliseconds=1), touch=touch, later={"n": 1}, told_again=True)
    await written(server, [sale])
    assert await written(server) == sale.cursor
    columns = "id, org_id, toString(revenue), told_again, touch_utm_source, more, at, place"
    assert rows(server, f"SELECT {columns} FROM waylink_conversions") == [
        [
            sale.id, ORG, "59.9", True, "it's \\ new\tline", '{"later.n":1}', "2026-05-06 12:00:00.001000",
            sale.cursor.place,
        ]
    ]  # fmt: skip
    assert rows(server, "SELECT id FROM waylink_leads") == []


async def test_views_get_new_columns(server: ChdbServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a later version knows stands behind the columns that are there, whatever its own order."""
    with monkeypatch.context() as former:
        former.setattr("backend.follow.clickhouse.tables.fields_of", lambda type_: fields_of(type_)[:1:-1])
        await written(server)
    began = [name for name, *_ in rows(server, "DESCRIBE TABLE shop.waylink_conversions")]
    await written(server)
    now = [name for name, *_ in rows(server, "DESCRIBE TABLE shop.waylink_conversions")]
    assert now == [*began, "conversion_id", "told_by"]


async def test_each_event_is_there_once(server: ChdbServer) -> None:
    """A run that dies anywhere in a page is gone on with by the next one: each event once, and in order."""
    events = [conversion() for _ in range(6)]
    await written(server, events[:2])
    for statements in range(3):
        server.dies_after = len(server.statements) + _of_an_opening(server) + statements
        with pytest.raises(OperatorError) as raised:
            await written(server, events[2:4], events[4:])
        assert isinstance(raised.value, TargetAway)
        server.dies_after = None
    assert await written(server, events[2:4], events[4:]) in {events[1].cursor, events[3].cursor}
    assert ids(server) == [stored.id for stored in events]


def _of_an_opening(server: ChdbServer) -> int:
    """How many statements a run begins with."""
    first = next(
        at for at, statement in enumerate(server.statements) if statement.startswith("INSERT INTO waylink_ev")
    )
    return first - 1  # the first run also keeps where it begins


async def test_a_page_may_span_any_time(server: ChdbServer) -> None:
    """A page whose events lie in more parts of the tables than ClickHouse takes by default is written."""
    events = [conversion(AT + timedelta(days=31 * month)) for month in range(120)]
    await written(server, events)
    assert ids(server) == [stored.id for stored in events]


async def test_an_erased_person_is_gone(server: ChdbServer) -> None:
    """Rows that name the person go, with the refunds of their sales; others stay, and nobody is named."""
    ann, bob = conversion(customer_id="ann'\\"), conversion(customer_id="bob")
    shared = [event(EventType.LEAD, AT + timedelta(hours=hour), device_id="tablet") for hour in range(3)]
    identify = event(EventType.IDENTIFY, customer_id="x", emails_sha256=["hash"])
    refunded = refund(bob)
    time = {"from": (AT + timedelta(hours=1)).isoformat(), "to": (AT + timedelta(hours=2)).isoformat()}
    open_time = {"from": None, "to": (AT + timedelta(minutes=1)).isoformat()}
    gone = erased(
        customers=["ann'\\"],
        emails_sha256=["hash"],
        shared_devices=[{"device_id": "tablet", "times": [time, open_time]}],
    )
    await written(server, [ann, bob, refund(ann), refunded, *shared, identify], [gone])
    assert set(ids(server)) == {stored.id for stored in (bob, refunded, shared[2], gone)}
    assert "ann" not in str(rows(server, "SELECT * FROM waylink_events"))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (500, "Code: 241. DB::Exception: (total) memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)"),
        (500, "Code: 252. DB::Exception: Too many parts. (TOO_MANY_PARTS)"),
        (503, "Service Unavailable"),
        (502, "<html>Bad Gateway</html>"),
        (429, ""),
    ],
)
async def test_it_waits_for_a_busy_server(server: ChdbServer, status: int, text: str) -> None:
    """A server that takes a page later is waited for: what failed is written by the next attempt, once."""
    page = [conversion(AT + timedelta(milliseconds=1)), conversion(AT + timedelta(milliseconds=2))]
    target = ClickHouseTarget(server.address)
    try:
        await target.open(ALL)
        server.refuses.append((status, text))
        with pytest.raises(TargetAway, match=f"it answered {status}"):
            await target.write(page, page[-1].cursor)
        await target.open(ALL)
        await target.write(page, page[-1].cursor)
    finally:
        await target.close()
    assert ids(server) == [event.id for event in page]


async def test_what_it_refuses(server: ChdbServer) -> None:
    """Another choice of types is refused, as is an address that is none, and a database that is not there."""
    await written(server, [conversion()])
    target = ClickHouseTarget(server.address)
    with pytest.raises(TargetMismatch, match="without --types"):
        await target.open(FollowedFeed(ORG, frozenset({EventType.LEAD}), START))
    await target.close()
    with pytest.raises(OperatorError, match="https://user@host:8443/database"):
        ClickHouseTarget("warehouse:8443")
    target = ClickHouseTarget(server.address.replace("shop", "none"))
    with pytest.raises(OperatorError, match="ClickHouse refuses it: Code: 81"):
        await target.open(ALL)
    await target.close()
    target = ClickHouseTarget("http://127.0.0.1:1/shop")
    with pytest.raises(OperatorError, match="check --to"):
        await target.open(ALL)
    await target.close()
