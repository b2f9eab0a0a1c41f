"""What waits to be counted has its turn, whatever else waits or fails."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pytest

from backend.app import Service
from backend.domain.click_block import block_of
from backend.domain.ids import LinkId, OrgId
from backend.redirector import folder, folding_lock
from backend.redirector.fold_helper import FoldHelper, HelperFailed
from backend.redirector.folder import Folder
from backend.storage import click_counts, click_folds
from backend.storage.click_counts import count_totals
from backend.storage.link_merges import all_unmerged_clicks
from backend.storage.mongo import Database
from backend.storage.unfolded_clicks import waiting_clicks
from tests.clicks import click, ship
from tests.fresh_database import fresh_database
from tests.polling import until, wait_for_async

NOW = datetime.now(UTC).replace(microsecond=0)
LINK, OTHER_LINK = LinkId(f"0{uuid.uuid4()}"[:36]), LinkId(str(uuid.uuid4()))
# In the order of ids, the first one comes first.
FIRST, SECOND = OrgId(f"0{uuid.uuid4()}"[:36]), OrgId(f"f{uuid.uuid4()}"[:36])
_HELPED = 80.0  # seconds: a helper has a low priority, and waits long where much else runs


@pytest.fixture(scope="module")
async def own_database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service folds clicks."""
    async with fresh_database(service.resources.database) as own:
        yield own


@pytest.fixture
async def database(own_database: Database) -> Database:
    """The same, empty but for its indexes."""
    for name in await own_database.list_collection_names():
        await own_database[name].delete_many({})
    return own_database


@pytest.fixture
def frequent_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others left is looked for some times a second, not once a minute."""
    monkeypatch.setattr(folder, "SWEEP_EVERY", 0.3)


@pytest.fixture
async def folding(database: Database, tmp_path: Path) -> AsyncIterator[Folder]:
    """A folder that is at work."""
    folding = Folder(database, tmp_path)
    folding.start()
    yield folding
    await folding.stop()
    folding.close()


async def test_what_always_fails_is_told_and_holds_up_nobody_else(
    database: Database, folding: Folder
) -> None:
    """A day's document that can't be read, as a disk that fails leaves it, is of its organization only."""
    damaged = {"_id": f"{LINK}/day/{NOW:%Y-%m-%d}", "org_id": FIRST, "link_id": LINK, "visitors": b"damaged"}
    await database[click_counts.NAME].insert_one(damaged)
    clicks = [click(FIRST, LINK, NOW, visitor=1), click(SECOND, OTHER_LINK, NOW, visitor=1)]
    await ship(database, clicks)
    folding.add([block_of(each.org_id, [each]) for each in clicks])
    await wait_for_async(
        lambda: _is_counted(database, SECOND, OTHER_LINK), "the other one's click is not counted"
    )
    await wait_for_async(lambda: _is_told(folding), "nobody is told")
    assert await count_totals(database, FIRST, [LINK]) == {}


async def test_who_has_much_to_count_does_not_hold_up_who_has_little(
    database: Database, folding: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Organizations have their turns one after another, though new clicks of one of them never end."""
    monkeypatch.setattr(folder, "_MOST_ORGANIZATIONS", 1)

    async def go_on_clicking() -> None:
        while True:
            each = click(FIRST, LINK, NOW)
            await ship(database, [each])
            folding.add([block_of(FIRST, [each])] * 5)
            await asyncio.sleep(0.02)

    clicking = asyncio.create_task(go_on_clicking())
    await wait_for_async(lambda: _is_counted(database, FIRST, LINK), "nothing is counted")
    await ship(database, [click(SECOND, OTHER_LINK, NOW)])
    folding.add([block_of(SECOND, [click(SECOND, OTHER_LINK, NOW)])])
    await wait_for_async(
        lambda: _is_counted(database, SECOND, OTHER_LINK), "the other one's click is not counted"
    )
    clicking.cancel()
    with suppress(asyncio.CancelledError):
        await clicking


async def test_what_other_processes_shipped_is_much_too(database: Database, folding: Folder) -> None:
    """Where more waits than this process knows of, a helper counts it, so that redirects here don't wait.

    It also merges what is on many links.
    """
    each = click(FIRST, LINK, NOW)
    for _ in range(2):  # the second time, it has looked for what others left
        await ship(database, [each])
        folding.add([block_of(FIRST, [each])])
        await wait_for_async(lambda: _is_folded(database), "the click is not counted")
    others = [LinkId(str(uuid.uuid4())) for _ in range(600)]
    for _ in range(3):
        await ship(database, [click(FIRST, link_id, NOW) for link_id in [LINK] * 300 + others])
    folding.add([block_of(FIRST, [each])])
    await wait_for_async(lambda: _is_folded(database), "the clicks are not counted", seconds=_HELPED)
    assert await count_totals(database, FIRST, [LINK, others[0]]) == {LINK: 902, others[0]: 3}
    await wait_for_async(lambda: _is_merged(database), "the clicks are not merged", seconds=_HELPED)
    assert await count_totals(database, FIRST, [LINK, others[0]]) == {LINK: 902, others[0]: 3}
    assert folding._helper._process is not None


@pytest.mark.usefixtures("frequent_sweeps", "folding")
async def test_what_others_left_is_looked_for(database: Database) -> None:
    """What another process stored before it ended is counted by the next sweep, then by the one after."""
    for _ in range(3):  # the first sweep is that of the start
        await ship(database, [click(FIRST, LINK, NOW)])
        await wait_for_async(lambda: _is_folded(database), "nobody looked for the click")
    assert await count_totals(database, FIRST, [LINK]) == {LINK: 3}


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes ten seconds or more takes half a second."""
    monkeypatch.setattr(folding_lock, "PATIENCE", 0.5)
    monkeypatch.setattr(folder, "TOLD_AFTER", 0.5)


@pytest.mark.usefixtures("little_patience")
async def test_a_lock_that_never_ends_is_waited_for_no_longer(
    database: Database, folding: Folder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Who has it may be a process of another service that was stopped: it is named, and clicks count."""
    each = click(FIRST, LINK, NOW)
    with (tmp_path / "folding.lock").open() as other:
        await wait_for_async(lambda: _is_locked(other), "the folder never lets go")
        for _ in range(2):
            await ship(database, [each])
            folding.add([block_of(FIRST, [each])])
            await wait_for_async(lambda: _is_folded(database), "the click is not counted")
        fcntl.flock(other, fcntl.LOCK_UN)
    (told,) = [record.message for record in caplog.records if "folding.lock" in record.message]
    assert told.startswith(f"Process {os.getpid()} has had {tmp_path}/folding.lock for 0.5 s")
    assert await count_totals(database, FIRST, [LINK]) == {LINK: 2}


@pytest.mark.usefixtures("little_patience")
async def test_it_is_told_when_nothing_is_counted(database: Database, folding: Folder) -> None:
    """Where a process was stopped in the middle of a transaction, say; and once it goes on, no more."""
    each = click(FIRST, LINK, NOW)
    await ship(database, [each])
    async with await database.client.start_session() as session, session.start_transaction():
        await click_folds.take(database, session, [FIRST])
        folding.add([block_of(FIRST, [each])])
        await until(lambda: folding.failure, "nobody is told", seconds=4)  # MongoDB ends it after five
        assert folding.failure == "folding clicks: none of those that wait was counted for 30 s"
        await session.abort_transaction()
    await wait_for_async(lambda: _is_folded(database), "the click is not counted")
    await until(lambda: folding.failure is None, "it is told for ever")


async def test_a_helper_that_dies_is_replaced(database: Database) -> None:
    """It may be killed as it starts, or while it waits to be asked; one that always dies is told."""
    helper = FoldHelper(database)
    for is_noticed in (False, True):
        async with _killed_at_start(0 if helper._process else 1):
            await ship(database, [click(SECOND, OTHER_LINK, NOW)])
            assert (await helper.fold([SECOND])).clicks == 1
        process = helper._process
        assert process
        os.kill(process.pid, signal.SIGKILL)
        if is_noticed:
            await process.wait()
    assert (await helper.fold([SECOND])).is_all
    helper.stop()
    async with _killed_at_start(2):
        with pytest.raises(HelperFailed):
            await helper.fold([SECOND])


@asynccontextmanager
async def _killed_at_start(most: int) -> AsyncIterator[None]:
    """Processes that this one starts are killed at once, so many of them."""
    known, begun = set(_children()), asyncio.Event()
    loop = asyncio.get_running_loop()

    def kill() -> None:
        loop.call_soon_threadsafe(begun.set)
        deadline = time.monotonic() + _HELPED
        while len(killed) < most and time.monotonic() < deadline:
            for pid in set(_children()) - known - killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)

    killed: set[int] = set()
    killing = asyncio.create_task(asyncio.to_thread(kill))
    await begun.wait()
    yield
    await killing
    assert len(killed) == most


def _children() -> Iterator[int]:
    for each in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):
            yield from map(int, (each / "children").read_text().split())


async def test_a_helper_ends_with_its_service_only(database: Database) -> None:
    """What stops a whole group of processes does not stop it in the middle of a transaction."""
    helper = FoldHelper(database)
    await helper.fold([SECOND])
    process = helper._process
    assert process
    os.kill(process.pid, signal.SIGTERM)
    await ship(database, [click(SECOND, OTHER_LINK, NOW)])
    assert (await helper.fold([SECOND])).clicks == 1
    helper.stop()
    async with asyncio.timeout(_HELPED):
        assert await process.wait() == 0


async def _is_counted(database: Database, org_id: OrgId, link_id: LinkId) -> bool:
    return link_id in await count_totals(database, org_id, [link_id])


async def _is_locked(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


async def _is_folded(database: Database) -> bool:
    return not await waiting_clicks(database)


async def _is_merged(database: Database) -> bool:
    return not await all_unmerged_clicks(database)


async def _is_told(folding: Folder) -> bool:
    return folding.failure is not None
