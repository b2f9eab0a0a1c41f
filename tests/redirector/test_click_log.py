"""The click log and its shipping: each record once, whoever ships it."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from backend.app import Service, utc_now
from backend.domain.clicks import client_fragment, parse_record, record_line
from backend.domain.client import Client, ClientKind, Platform
from backend.domain.destination import Outcome
from backend.redirector.click_log import ClickLog, create_log, take_over_logs
from backend.redirector.shipper import Shipper, pause_after
from backend.storage.click_counts import count_window
from backend.storage.click_logs import AlreadyShipped
from backend.storage.clicks import ship_clicks
from backend.storage.mongo import Database
from tests.conftest import MovableClock
from tests.redirector.conftest import LinkFactory


def line_of(link_id: str) -> bytes:
    """A counted click on a link."""
    client = client_fragment(Client(ClientKind.BROWSER, Platform.DESKTOP))
    return record_line(
        "org",
        link_id,
        client,
        at=utc_now(),
        outcome=Outcome.WEB,
        reason=None,
        country="DE",
        referrer_host=None,
    )


async def test_a_batch_shipped_twice_counts_once(
    database: Database, make_link: LinkFactory, clock: MovableClock
) -> None:
    """The second time, nothing changes, and the shipper learns how far the log has been moved."""
    link = await make_link()
    clicks = [parse_record(f"log{link.id}-0", line_of(link.id))]
    await ship_clicks(database, f"log{link.id}", 0, 100, clicks)
    with pytest.raises(AlreadyShipped) as refused:
        await ship_clicks(database, f"log{link.id}", 0, 100, clicks)
    assert refused.value.position == 100
    assert (await count_window(database, link.id, clock())).total == 1


async def test_a_log_left_behind_is_taken_over(
    database: Database, make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """What a process that ended left on disk is counted once, its unfinished last line left out."""
    link = await make_link()
    log = create_log(tmp_path)
    for _ in range(3):
        log.append(line_of(link.id))
    log.append(line_of(link.id)[:20])
    assert take_over_logs(tmp_path) == []  # its owner still runs
    log.close()
    for _ in range(2):
        await Shipper(database, tmp_path).stop()
    assert (await count_window(database, link.id, clock())).total == 3
    assert take_over_logs(tmp_path) == []  # nothing is left on disk


async def test_a_stopping_shipper_ships_all_of_its_log(
    database: Database, make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """However many batches wait on disk, a shipper that stops leaves none behind."""
    link = await make_link()
    shipper = Shipper(database, tmp_path)
    for _ in range(2000):
        shipper.log.append(line_of(link.id))
    await shipper.stop()
    assert (await count_window(database, link.id, clock())).total == 2000
    assert take_over_logs(tmp_path) == []


@pytest.mark.parametrize("failures", [1, 5, 1024, 1_000_000])
def test_the_pause_between_tries_is_bounded(failures: int) -> None:
    """However long the database is away, the next try comes within two seconds."""
    assert 0 < pause_after(failures) <= 2


async def test_clicks_go_straight_to_the_database_while_the_disk_is_full(
    service: Service,
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A click that the disk does not take is in the database when its answer leaves."""
    link = await make_link()
    full = Path("/dev/full")  # refuses each write as a full disk does
    log = ClickLog(full, os.open(full, os.O_RDWR))
    monkeypatch.setattr(service.redirector.shipper, "log", log)
    for number in (1, 2):
        assert (await visitor.get(f"/{link.path}")).status_code == 302
        assert (await count_window(database, link.id, clock())).total == number
    monkeypatch.undo()
    log.close()
