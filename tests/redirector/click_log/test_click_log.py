"""The click log and its shipping: each record once, whoever ships it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from backend.app import Service
from backend.domain.clicks.clicks import client_fragment, record_line
from backend.domain.clicks.stretch import read_stretch
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import Link
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.click_log import shipper as shipping
from backend.redirector.click_log import shipping as log_shipping
from backend.redirector.click_log.files import ClickLog, create_log, take_over_logs
from backend.redirector.click_log.shipper import Shipper, rest_after
from backend.redirector.click_log.shipping import STRETCH_BYTES
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import MovableClock
from tests.facts.clicks import recorded_clicks
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async
from tests.redirector.conftest import LinkFactory

Seen = TypeVar("Seen")
UNREADABLE = "unreadable"


@pytest.fixture
async def own_database(database: Database) -> AsyncIterator[Database]:
    """A database of the test's own.

    Who starts in one that other tests use too counts what they left, and that may have many turns first.
    """
    async with fresh_database(database) as own:
        yield own


def line_of(link_id: LinkId) -> bytes:
    """A counted click on a link."""
    client = client_fragment(Client(ClientKind.BROWSER, Platform.DESKTOP))
    return record_line(
        OrgId("org"),
        link_id,
        client,
        at=utc_now(),
        outcome=Outcome.WEB,
        reason=None,
        country="DE",
        referrer_host=None,
    )


def async_(read: Callable[[], Seen]) -> Callable[[], Awaitable[Seen]]:
    """What is read, for `wait_for_async`."""

    async def reading() -> Seen:
        return read()

    return reading


async def clicks_of(analytics: Analytics, link: Link, clock: MovableClock) -> int:
    """The link's clicks. `line_of` names another organization than the link's."""
    return (await analytics.ask(OrgId("org"), ClickWindow(link.id, clock()))).total


async def test_a_batch_shipped_twice_counts_once(
    database: Database, analytics: Analytics, make_link: LinkFactory, clock: MovableClock
) -> None:
    """The second time, nothing changes, and the shipper learns how far the log has been moved."""
    link = await make_link()
    blocks = read_stretch(line_of(link.id)).blocks
    await ship_blocks(database, f"log{link.id}", LogHead(), 100, blocks)
    with pytest.raises(AlreadyShipped) as refused:
        await ship_blocks(database, f"log{link.id}", LogHead(), 100, blocks)
    assert refused.value.head.position == 100
    assert await clicks_of(analytics, link, clock) == 1


async def put_back(database: Database) -> Callable[[], Awaitable[None]]:
    """What puts back what the database has now of clicks and of the logs that they come from."""
    names = ("click_blocks", "click_logs", "feed_entries", "feed_heads")
    backup = {name: await database[name].find().to_list(None) for name in names}

    async def go_back() -> None:
        for name, documents in backup.items():
            await database[name].delete_many({})
            if documents:
                await database[name].insert_many(documents)

    return go_back


@pytest.mark.parametrize("were_shipped", [0, 2])
@pytest.mark.parametrize("is_idle", [True, False])
async def test_what_a_backup_lacks_is_shipped_again(
    own_database: Database,
    make_link: LinkFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    were_shipped: int,
    is_idle: bool,
) -> None:
    """Each click of the log is there once after MongoDB was put back, also one from before the log was known.

    That is noticed with the next click, or after a while if none comes.
    """
    monkeypatch.setattr(log_shipping, "_LOOK_AGAIN_SECONDS", 0.1 if is_idle else 600)
    link, shipper, count = await make_link(), Shipper(own_database, tmp_path, tmp_path / UNREADABLE), 0

    async def record(clicks: int) -> None:
        nonlocal count
        for _ in range(clicks):
            await shipper.record(line_of(link.id))
            count += 1
        await wait_for_async(
            partial(recorded_clicks, own_database, OrgId("org"), link.id),
            "not shipped",
            lambda seen: len(seen) == count,
        )

    await shipper.start()
    if were_shipped:
        await record(were_shipped)
    go_back = await put_back(own_database)
    await record(3)
    await go_back()
    await record(0 if is_idle else 1)
    await record(1)
    await shipper.stop()
    assert len(await recorded_clicks(own_database, OrgId("org"), link.id)) == count


async def test_a_full_log_stays_until_the_database_has_it(
    own_database: Database, make_link: LinkFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the file is deleted, the database is asked: it may have been put back since."""
    link, shipper = await make_link(), Shipper(own_database, tmp_path, tmp_path / UNREADABLE)
    go_back, first = await put_back(own_database), shipper.log
    shipper.log.append([line_of(link.id)])
    await shipper._ship_own()
    await go_back()
    monkeypatch.setattr(shipping, "_ROTATE_BYTES", 1)
    await shipper._ship_own()
    assert shipper.log is first
    while shipper.log is first:
        await shipper._ship_own()
    assert len(await recorded_clicks(own_database, OrgId("org"), link.id)) == 1
    await shipper.stop()


async def test_a_log_left_behind_is_taken_over(
    database: Database, analytics: Analytics, make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """What a process that ended left on disk is counted once, its unfinished last line left out."""
    link = await make_link()
    log = create_log(tmp_path)
    for _ in range(3):
        log.append([line_of(link.id)])
    log.append([line_of(link.id)[:20]])
    assert list(take_over_logs(tmp_path, 9)) == []  # its owner still runs
    log.close()
    for _ in range(2):
        await Shipper(database, tmp_path, tmp_path / UNREADABLE).stop()
    assert await clicks_of(analytics, link, clock) == 3
    assert list(take_over_logs(tmp_path, 9)) == []  # nothing is left on disk


async def test_a_stopping_shipper_ships_all_of_its_log(
    database: Database, analytics: Analytics, make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """However many batches wait on disk, a shipper that stops leaves none behind."""
    link = await make_link()
    shipper = Shipper(database, tmp_path, tmp_path / UNREADABLE)
    for _ in range(2000):
        shipper.log.append([line_of(link.id)])
    await shipper.stop()
    assert await clicks_of(analytics, link, clock) == 2000
    assert list(take_over_logs(tmp_path, 9)) == []


async def test_a_log_that_can_not_be_replaced_goes_on(
    own_database: Database,
    make_link: LinkFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full log that can have no successor, as without inodes: it takes and ships more, and that is told."""
    monkeypatch.setattr(shipping, "_ROTATE_BYTES", 1)
    link = await make_link()
    shipper = Shipper(own_database, tmp_path / "clicks", tmp_path / UNREADABLE)
    first = shipper.log
    away = (tmp_path / "clicks").rename(tmp_path / "away")
    (tmp_path / "clicks").touch()  # no folder any more
    await shipper.start()
    for number in (1, 2):
        first.append([line_of(link.id)])
        await wait_for_async(
            partial(recorded_clicks, own_database, OrgId("org"), link.id),
            "not shipped",
            lambda seen: len(seen) == number,  # noqa: B023 - called at once
        )
        await wait_for_async(async_(lambda: shipper.failures), "nobody is told")
    (tmp_path / "clicks").unlink()
    away.rename(tmp_path / "clicks")
    await wait_for_async(async_(lambda: shipper.log is not first), "it was not replaced")
    await shipper.stop()


def test_shipping_takes_a_larger_part_of_the_time_the_more_waits() -> None:
    """A fifth while it keeps up; half once two stretches wait, and with more nearly all."""
    assert [rest_after(0.1, waiting) for waiting in (0, 1000, STRETCH_BYTES)] == [0.4, 0.4, 0.4]
    assert rest_after(0.1, 2 * STRETCH_BYTES) <= 0.1
    assert rest_after(5.0, 10 * STRETCH_BYTES) <= 0.01
    assert rest_after(5.0) == 1.0


async def test_clicks_go_straight_to_the_database_while_the_disk_is_full(
    service: Service,
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    analytics: Analytics,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A click that the disk does not take is in the database when its answer leaves."""
    link = await make_link()
    full = Path("/dev/full")  # refuses each write as a full disk does
    log = ClickLog(full, os.open(full, os.O_RDWR))
    monkeypatch.setattr(service.redirector.shipper._disk, "log", log)
    for number in (1, 2):
        assert (await visitor.get(f"/{link.path}")).status_code == 302
        assert len(await recorded_clicks(database, link.org_id, link.id)) == number
        window = ClickWindow(link.id, clock())
        assert (await analytics.ask(link.org_id, window)).total == number
    monkeypatch.undo()
    log.close()
