"""What a feed becomes in Parquet files, and how they are gone on with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.ids import OrgId
from backend.follow.parquet import target as parquet
from backend.follow.parquet.rows import ParquetRows
from backend.follow.parquet.target import ParquetTarget
from backend.follow.target import FollowedFeed, TargetMismatch, TargetTaken
from tests.follow.made_events import AT, ORG, conversion, erased, event, refund
from tests.follow.parquet_files import asked, ids

ALL = FollowedFeed(ORG, USUAL_TYPES, START)


async def written(folder: Path, *pages: Sequence[Event]) -> None:
    """Write these pages, as one run does."""
    target = ParquetTarget(folder)
    try:
        await target.open(ALL)
        for page in pages:
            await target.write(page, page[-1].cursor)
    finally:
        await target.close()


async def opened(folder: Path, followed: FollowedFeed = ALL) -> Cursor:
    """Where a run would go on."""
    target = ParquetTarget(folder)
    try:
        return await target.open(followed)
    finally:
        await target.close()


def files(folder: Path) -> list[Path]:
    """The Parquet files below the folder."""
    return list(folder.rglob("*.parquet"))


async def test_events_stand_in_columns_by_organization_and_day(tmp_path: Path) -> None:
    """A field is a column of its kind, what has none is in `more`; folders name organization and day."""
    touch = {"link_id": "L", "utm": {"utm_source": "news"}}
    sale = conversion(touch=touch, later={"n": 1}, told_again=True)
    click = event(EventType.CLICK, AT + timedelta(days=1), link_id="L", counted=False, reason="bot")
    await written(tmp_path, [sale, click])
    [first, second] = asked(
        tmp_path,
        "SELECT id, type, org_id::VARCHAR, day::VARCHAR, revenue, told_again, touch_utm_source, more, "
        'link_id, counted, epoch_ms("at") FROM events ORDER BY place',
    )
    at = int(AT.timestamp()) * 1000
    day, next_day = "2026-05-06", "2026-05-07"
    assert first == (
        sale.id, "conversion", ORG, day, Decimal("59.9"), True, "news", '{"later.n":1}', None, None, at
    )  # fmt: skip
    assert second == (
        click.id, "click", ORG, next_day, None, None, None, None, "L", False, at + 86_400_000
    )  # fmt: skip
    assert all(path.stat().st_mode & 0o077 == 0 for path in files(tmp_path))


async def test_a_page_that_was_not_finished_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was written of it when the run died, each event is there once."""
    events = [conversion(AT + timedelta(days=number % 3)) for number in range(7)]
    await written(tmp_path, events[:2])
    for dies_after in range(3):
        with monkeypatch.context() as patched:
            _die_after(patched, dies_after)
            with pytest.raises(OperatorError, match="goes on where it stopped"):
                await written(tmp_path, events[2:])
    await written(tmp_path, events[2:])
    assert ids(tmp_path) == [stored.id for stored in events]


def _die_after(patched: pytest.MonkeyPatch, files: int) -> None:
    """Have the writing fail once so many files of a page were written."""
    add, remaining = ParquetRows.add, iter([True] * files)

    def dying(rows: ParquetRows, path: Path, events: Sequence[Event]) -> None:
        if not next(remaining, False):
            raise OSError(28, "No space left on device")
        add(rows, path, events)

    patched.setattr(ParquetRows, "add", dying)


async def test_days_have_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of a day are added to its last file until that is large."""
    monkeypatch.setattr(parquet, "MOST_ROWS", 3)
    events = [conversion() for _ in range(8)]
    await written(tmp_path, *([single] for single in events))
    assert len(files(tmp_path)) == 3
    assert ids(tmp_path) == [stored.id for stored in events]


async def test_an_erased_person_is_gone(tmp_path: Path) -> None:
    """Rows that name the person go, with the refunds of their sales; others stay, and nobody is named."""
    ada, bob = conversion(customer_id="ada-lovelace"), conversion(customer_id="bob")
    shared = [event(EventType.LEAD, AT + timedelta(hours=hour), device_id="tablet") for hour in range(3)]
    identify = event(EventType.IDENTIFY, customer_id="x", emails_sha256=["hash-of-hers"])
    refunded = refund(bob)
    before = [ada, bob, refund(ada), refunded, *shared, identify]
    time = {"from": (AT + timedelta(hours=1)).isoformat(), "to": (AT + timedelta(hours=2)).isoformat()}
    gone = erased(
        customers=["ada-lovelace"],
        emails_sha256=["hash-of-hers"],
        shared_devices=[{"device_id": "tablet", "times": [time]}],
    )
    await written(tmp_path, before, [gone])
    assert ids(tmp_path) == [stored.id for stored in (bob, shared[0], shared[2], refunded, gone)]
    named = str(asked(tmp_path, "SELECT COLUMNS(*)::VARCHAR FROM events"))
    assert "ada-lovelace" not in named
    assert "hash-of-hers" not in named


async def test_another_feed_or_a_second_follower_is_refused(tmp_path: Path) -> None:
    """A folder goes on with its types; one follower at a time; files without a cursor are left alone."""
    target = ParquetTarget(tmp_path)
    await target.open(ALL)
    await target.write([sale := conversion()], sale.cursor)
    with pytest.raises(TargetTaken):
        await opened(tmp_path)
    await target.close()
    with pytest.raises(TargetMismatch, match="without --types"):
        await opened(tmp_path, FollowedFeed(ORG, frozenset({EventType.LEAD}), START))
    cursor = tmp_path / f"org_id={ORG}" / "waylink.cursor"
    assert json.loads(cursor.read_text())["cursor"] == str(sale.cursor)
    cursor.write_text("{")
    with pytest.raises(TargetMismatch, match="damaged"):
        await opened(tmp_path)
    cursor.unlink()
    with pytest.raises(TargetMismatch, match="another folder"):
        await opened(tmp_path)
    other = FollowedFeed(OrgId("00000000-0000-0000-0000-000000000001"), USUAL_TYPES, Cursor(7))
    assert await opened(tmp_path, other) == Cursor(7)
