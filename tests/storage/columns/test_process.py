"""The process that answers questions: whatever becomes of it or of its files, answers are right."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from backend.concurrency.processes import who_locks
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics import connection, process_start
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.files import FileAnswer, FileQuestion
from backend.storage.analytics.messages import LOCK
from backend.storage.analytics.parquet import write_parquet
from backend.storage.analytics.process_start import start_process
from backend.storage.analytics.question import Facts, FactsNotReady, LongQuestion, NoAnswer, Question
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from tests.polling import until, wait_for_async
from tests.storage.columns.asked_process import count, pid_of, visit


@dataclass(frozen=True)
class Refused(Question[int]):
    """A question that can't be answered."""

    def answer(self, facts: Facts) -> int:
        """Raises InvalidField."""
        raise InvalidField("group_by", "is a test's own")


@dataclass(frozen=True)
class Endless(Question[int]):
    """A question that takes longer than anybody waits."""

    def answer(self, facts: Facts) -> int:
        """Counts for hours."""
        endless = "SELECT count(*) FROM range(10_000_000) AS a(n), range(10_000_000) AS b(m) WHERE n + m < 0"
        return int(facts.connection.execute(endless).fetchall()[0][0])


@dataclass(frozen=True)
class Counting(LongQuestion[int]):
    """A question whose answer has many pieces."""

    pieces_in_all: int

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Numbers, large enough that nobody holds them all."""
        yield from range(self.pieces_in_all)


@dataclass(frozen=True)
class EndlessFile(FileQuestion):
    """A file that takes longer to write than anybody waits."""

    is_torn: bool = False

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Writes for hours, or until it divides a text."""
        yield 0
        value = "(n || 'x')::BIGINT" if self.is_torn else "n"
        rows = f"SELECT {value} AS value FROM range(10_000_000_000) AS numbers(n)"
        path = folder / "endless.parquet"
        return FileAnswer(str(path), write_parquet(facts.connection, rows, {}, path))


@dataclass(frozen=True)
class Small(FileQuestion):
    """A file of one word."""

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Writes it."""
        yield 0
        path = folder / "small"
        path.write_text("word")
        return FileAnswer(str(path), 1, ["a note"])


async def test_what_is_committed_is_in_the_next_answer(
    analytics: Analytics, database: Database, org_id: OrgId
) -> None:
    """Each answer has everything that was stored before it was asked for."""
    for clicks in range(1, 6):
        await visit(database, org_id)
        assert await count(analytics, org_id) == clicks


async def test_a_killed_process_is_replaced(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """Where the process is killed, the next answer comes of another one, and counts each click once."""
    await visit(database, org_id, 3)
    assert await count(analytics, org_id) == 3
    os.kill(pid_of(own_settings), signal.SIGKILL)
    await visit(database, org_id, 2)
    assert await count(analytics, org_id) == 5


async def test_a_stopped_process_is_replaced(
    analytics: Analytics,
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that was stopped from outside, and says nothing, is ended and replaced."""
    monkeypatch.setattr(connection, "_SILENCE_SECONDS", 1.5)
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    os.kill(stopped := pid_of(own_settings), signal.SIGSTOP)
    assert await count(analytics, org_id) == 1
    assert pid_of(own_settings) != stopped


async def test_a_process_that_was_stopped_before_anybody_connected_is_replaced(
    database: Database, org_id: OrgId, own_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also who connects to a stopped process does not wait for it."""
    monkeypatch.setattr(connection, "_SILENCE_SECONDS", 1.5)
    first, second = Analytics(database, own_settings), Analytics(database, own_settings)
    await visit(database, org_id)
    assert await count(first, org_id) == 1
    os.kill(pid_of(own_settings), signal.SIGSTOP)
    assert await count(second, org_id) == 1
    await first.close()
    await second.close()


async def test_a_stopped_process_is_replaced_although_nobody_waits_long(
    analytics: Analytics,
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where each request has less time than it takes to notice that the process says nothing."""
    monkeypatch.setattr(connection, "_SILENCE_SECONDS", 1.5)
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    os.kill(stopped := pid_of(own_settings), signal.SIGSTOP)

    async def is_answered() -> bool:
        with suppress(NoAnswer, FactsNotReady), deadline(0.5):
            return await count(analytics, org_id) == 1
        return False

    await wait_for_async(is_answered, "the process is not replaced")
    assert pid_of(own_settings) != stopped


@pytest.mark.parametrize("damage", ["deleted", "overwritten", "another format"])
async def test_files_are_made_again(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings, damage: str
) -> None:
    """A file that is deleted, damaged or of another format is made again from what is stored."""
    await visit(database, org_id, 2)
    assert await count(analytics, org_id) == 2
    path = own_settings.data_dir / "analytics" / f"{org_id}.duckdb"
    if damage == "deleted":  # below the process that has it open
        path.unlink()
    else:
        os.kill(pid_of(own_settings), signal.SIGKILL)
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
        path.write_bytes(b"\0" * 20_000 if damage == "overwritten" else path.read_bytes()[:100])
    await visit(database, org_id)
    assert await count(analytics, org_id) == 3


async def test_two_hosts_count_the_same(
    analytics: Analytics, database: Database, org_id: OrgId, settings: Settings, tmp_path: Path
) -> None:
    """Each host has its own columns of the same facts."""
    other = Analytics(database, replace(settings, data_dir=tmp_path / "other"))
    await visit(database, org_id, 2)
    assert await count(analytics, org_id) == 2
    await visit(database, org_id, 2)
    assert [await count(client, org_id) for client in (other, analytics)] == [4, 4]
    await other.close()


async def test_several_ask_at_once(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """Many questions at a time, also of several processes' connections, are answered by one process."""
    other = Analytics(database, own_settings)
    await visit(database, org_id, 2)
    answers = await asyncio.gather(*(count(client, org_id) for client in [analytics, other] * 20))
    assert answers == [2] * 40
    await other.close()


async def test_errors_arrive_as_they_were_raised(analytics: Analytics, org_id: OrgId) -> None:
    """What a question raises, who asked gets, with the field and the rule."""
    with pytest.raises(InvalidField, match="group_by is a test's own") as raised:
        await analytics.ask(org_id, Refused())
    assert raised.value.field == "group_by"


async def test_a_question_ends(analytics: Analytics, database: Database, org_id: OrgId) -> None:
    """A question that takes too long is given up, and holds up no other one."""
    asked = asyncio.create_task(analytics.ask(org_id, Endless()))
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    with pytest.raises(NoAnswer, match="longer than 2 s"):
        await asked


async def test_who_leaves_ends_the_question(
    analytics: Analytics, database: Database, own_settings: Settings, org_id: OrgId
) -> None:
    """The work for somebody who is gone does not go on."""
    await count(analytics, org_id)
    pid = pid_of(own_settings)
    asked = asyncio.create_task(analytics.ask(org_id, Endless()))
    await until(lambda: _works(pid), "nothing works")
    asked.cancel()
    await until(lambda: not _works(pid), "it goes on")


async def test_long_answers_come_in_pieces(analytics: Analytics, org_id: OrgId) -> None:
    """A long answer arrives whole; who stops in its midst can ask anew."""
    pieces = [piece async for piece in analytics.stream(org_id, Counting(5_000))]
    assert pieces == list(range(5_000))
    async for piece in analytics.stream(org_id, Counting(1_000_000)):
        if piece == 10:
            break
    assert await count(analytics, org_id) == 0


async def test_a_file_has_no_name_once_it_is_open(
    analytics: Analytics, org_id: OrgId, own_settings: Settings
) -> None:
    """It is read to its end although it is deleted, and the process that made it has ended."""
    files = own_settings.data_dir / "analytics" / "files"
    async with analytics.file(org_id, Small()) as made:
        await until(lambda: not list(files.iterdir()), "the file stays")
        os.kill(pid_of(own_settings), signal.SIGKILL)
        assert (made.file.read(), made.rows, made.notes) == (b"word", 1, ["a note"])
    assert made.file.closed


async def test_who_leaves_ends_the_file(analytics: Analytics, org_id: OrgId, own_settings: Settings) -> None:
    """Where nobody waits for a file any more, it is not written on, and what there is of it is deleted."""
    await count(analytics, org_id)
    pid, files = pid_of(own_settings), own_settings.data_dir / "analytics" / "files"
    asked = asyncio.create_task(analytics.file(org_id, EndlessFile()).__aenter__())
    await until(lambda: list(files.glob("*/endless.parquet")), "nothing is written")
    asked.cancel()
    await until(lambda: not list(files.iterdir()), "the file stays")
    await until(lambda: not _works(pid), "it goes on")
    assert await count(analytics, org_id) == 0
    assert pid_of(own_settings) == pid


async def test_an_error_in_the_midst_of_a_file(
    analytics: Analytics, org_id: OrgId, own_settings: Settings
) -> None:
    """Who asked gets the error, and nothing is left of the file."""
    with pytest.raises(NoAnswer, match="The answer can't be made: Conversion Error"):
        async with analytics.file(org_id, EndlessFile(is_torn=True)):
            pass
    assert list((own_settings.data_dir / "analytics" / "files").iterdir()) == []


async def test_a_file_that_nobody_has_used_for_long_is_made_again(
    analytics: Analytics, database: Database, org_id: OrgId, own_settings: Settings
) -> None:
    """The feed tells of erasures for some months only, so an old file is not gone on with."""
    await visit(database, org_id)
    assert await count(analytics, org_id) == 1
    os.kill(pid_of(own_settings), signal.SIGKILL)
    path = own_settings.data_dir / "analytics" / f"{org_id}.duckdb"
    await database["click_blocks"].delete_many({"org_id": org_id})  # which the feed does not tell
    assert await count(analytics, org_id) == 1
    os.kill(pid_of(own_settings), signal.SIGKILL)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    os.utime(path, (0, time.time() - 40 * 24 * 3600))
    assert await count(analytics, org_id) == 0


async def test_the_process_ends_with_those_who_ask(
    database: Database,
    org_id: OrgId,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of one that was started, and not forked as in other tests: where nobody is connected, none is left."""
    monkeypatch.setattr(process_start, "start_process", start_process)
    own_settings = replace(settings, data_dir=tmp_path)
    analytics = Analytics(database, own_settings)
    await count(analytics, org_id)
    pid = pid_of(own_settings)
    await analytics.close()
    await until(lambda: who_locks(tmp_path / "analytics" / LOCK) != pid, "it goes on")


def _works(pid: int) -> bool:
    """Whether the process takes more than a little of the processor."""
    before = _ticks(pid)
    time.sleep(0.3)
    return _ticks(pid) - before > 5


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
