"""How the process that answers questions is found, started and replaced, also beside other versions."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pickle
import resource
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from backend.doctor.columns import examine_process
from backend.domain.finding import Severity
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics import connection, hello, process_search, process_start
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.hello import Hello
from backend.storage.analytics.messages import LOCK, Socket
from backend.storage.analytics.process_start import start_process
from backend.storage.analytics.question import Facts, LongQuestion, NoAnswer, Question
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database
from backend.system.private_folder import private_folder
from tests.storage.columns.asked_process import count, pid_of, visit
from tests.storage.columns.limits import limited


@dataclass(frozen=True)
class Deadly(Question[int]):
    """A question that ends the process, as one does for which the machine has too little memory."""

    def answer(self, facts: Facts) -> int:
        """Ends it once others are asked, too."""
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


@dataclass(frozen=True)
class Slow(Question[int]):
    """A question that the process works on when it ends."""

    def answer(self, facts: Facts) -> int:
        """Waits."""
        time.sleep(0.4)
        return 7


class Trap:
    """What makes a file where its pickle is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


def move(path: str, to: str) -> None:
    """Give a file another name."""
    Path(path).rename(to)


def private(folder: Path) -> Path:
    """The folder, which is made."""
    private_folder(folder)
    return folder


@contextlib.asynccontextmanager
async def process_of_another_version(folder: Path) -> AsyncIterator[None]:
    """This process, which has the folder for the block, and says that it runs another source."""

    async def say_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(json.dumps(asdict(Hello("another", "0.9", os.getpid()))).encode() + b"\n")
        await reader.read()
        writer.close()

    with (folder / LOCK).open("ab") as lock, Socket(folder).bound() as listening:
        fcntl.flock(lock, fcntl.LOCK_EX)
        async with await asyncio.start_unix_server(say_hello, sock=listening):
            yield


async def test_another_version_leaves_the_process_alone(
    analytics: Analytics,
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who runs another source says who has the figures, and whoever has the same goes on being answered."""
    monkeypatch.setattr(process_search, "_OTHERS_SECONDS", 0.1)
    assert await count(analytics, org_id) == 0
    pid = pid_of(own_settings)
    other = Analytics(database, own_settings)
    with monkeypatch.context() as patch:
        patch.setattr(hello, "source_digest", lambda: "another")
        with pytest.raises(NoAnswer, match=rf"Another version of Waylink, [\d.]+, .* process {pid}"):
            await count(other, org_id)
    assert await count(analytics, org_id) == 0
    assert pid_of(own_settings) == pid
    await other.close()


async def test_who_waits_for_another_version_is_answered_once_that_has_ended(
    database: Database, org_id: OrgId, settings: Settings, tmp_path: Path
) -> None:
    """A service that starts while another one stops has its figures within the same request.

    Meanwhile the doctor names the other one.
    """
    analytics_settings = replace(settings, data_dir=tmp_path)
    analytics = Analytics(database, analytics_settings)
    await visit(database, org_id)
    async with process_of_another_version(private(tmp_path / "analytics")):
        [finding] = [finding async for finding in examine_process(analytics_settings)]
        assert finding.severity is Severity.ERROR
        assert f"Another version of Waylink (0.9, process {os.getpid()}) answers" in finding.message
        asked = asyncio.create_task(count(analytics, org_id))
        await asyncio.wait([asked], timeout=0.3)
        assert not asked.done()
    assert await asked == 1
    assert [finding async for finding in examine_process(analytics_settings)] == []
    await analytics.close()


async def test_no_pickle_of_another_version_is_read(
    analytics: Analytics, org_id: OrgId, own_settings: Settings, tmp_path: Path
) -> None:
    """The process says which source it runs, and closes the connection, whatever came after the hello."""
    await count(analytics, org_id)
    pid = pid_of(own_settings)
    for line in (b'{"source": "another", "version": "2", "pid": 1}\n', b"\n", b"[]\n"):
        trap = pickle.dumps({"number": 1, "org_id": Trap(tmp_path / "read")})
        reader, writer = await asyncio.open_unix_connection(Socket(own_settings.data_dir / "analytics").path)
        writer.write(line + len(trap).to_bytes(4) + trap)
        assert json.loads(await reader.readline()) == asdict(replace(Hello.own(), pid=pid))
        assert await reader.read() == b""
        writer.close()
    assert not (tmp_path / "read").exists()


async def test_whoever_took_the_place_of_a_silent_process_is_left_alone(
    analytics: Analytics,
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the process that was silent is ended, and not the one that has the folder by then."""
    monkeypatch.setattr(connection, "_SILENCE_SECONDS", 0.3)
    await count(analytics, org_id)
    pid, path = pid_of(own_settings), Socket(own_settings.data_dir / "analytics").path
    aside = f"{path}.aside"
    move(path, aside)
    is_connected = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_connected.set()
        await reader.read()
        writer.close()

    other = Analytics(database, own_settings)
    async with await asyncio.start_unix_server(say_nothing, path):
        asked = asyncio.create_task(count(other, org_id))
        await is_connected.wait()
        move(aside, path)
        assert await asked == 0
    assert pid_of(own_settings) == pid
    await other.close()


async def test_what_ends_the_process_costs_others_nothing(
    analytics: Analytics, org_id: OrgId, own_settings: Settings
) -> None:
    """Who asks what kills the process twice is told so, also the next time; others are answered meanwhile."""
    await count(analytics, org_id)
    asked = [analytics.ask(org_id, Slow()) for _ in range(2)]
    deadly, *others = await asyncio.gather(analytics.ask(org_id, Deadly()), *asked, return_exceptions=True)
    assert isinstance(deadly, NoAnswer)
    assert "ended twice at work on this" in str(deadly)
    assert others == [7, 7]
    assert await count(analytics, org_id) == 0
    pid = pid_of(own_settings)
    with pytest.raises(NoAnswer, match="not asked again for 10 minutes"):
        await analytics.ask(org_id, Deadly())
    assert await count(analytics, org_id) == 0
    assert pid_of(own_settings) == pid


async def test_a_machine_that_can_start_no_process(
    database: Database,
    org_id: OrgId,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is told why there are no figures, and once there is room again there are some."""
    monkeypatch.setattr(process_start, "start_process", start_process)
    monkeypatch.setattr("backend.storage.analytics.client._PAUSE_SECONDS", 0.0)
    analytics = Analytics(database, replace(settings, data_dir=tmp_path))
    await visit(database, org_id)
    last = os.open("/dev/null", os.O_RDONLY)
    with limited(resource.RLIMIT_NOFILE, last + 1), pytest.raises(NoAnswer, match="Too many open files"):
        await count(analytics, org_id)
    os.close(last)
    assert await count(analytics, org_id) == 1
    await analytics.close()


@pytest.mark.parametrize("is_forked", [True, False])
async def test_a_process_that_can_not_start_says_why(
    database: Database,
    org_id: OrgId,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_forked: bool,
) -> None:
    """Its reason is the answer, soon, and not only in the log: as where its folder can't be written to."""
    if not is_forked:
        monkeypatch.setattr(process_start, "start_process", start_process)
    analytics = Analytics(database, replace(settings, data_dir=tmp_path))
    (tmp_path / "analytics" / LOCK).mkdir(parents=True)
    with deadline(5), pytest.raises(NoAnswer, match=r"can't start: IsADirectoryError: .*process\.lock"):
        await count(analytics, org_id)
    await analytics.close()


async def test_no_request_waits_longer_than_it_may(
    database: Database,
    org_id: OrgId,
    settings: Settings,
    tmp_path: Path,
) -> None:
    """While another process has the folder and does not listen, who asks hears of it at the deadline."""
    folder = tmp_path / "analytics"
    folder.mkdir()
    analytics = Analytics(database, replace(settings, data_dir=tmp_path))
    with (folder / LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        with deadline(0.3), pytest.raises(NoAnswer, match="not there yet; ask again"):
            await count(analytics, org_id)
        with deadline(0.3), pytest.raises(NoAnswer, match="not there yet; ask again"):
            async for _ in analytics.stream(org_id, LongQuestion[int]()):
                pass
        assert time.monotonic() - began < 2
    await analytics.close()


async def test_a_process_that_never_listens_is_ended(
    database: Database,
    org_id: OrgId,
    own_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that has the folder for long, and was stopped before it listened, is replaced."""
    monkeypatch.setattr(process_search, "_DEAF_SECONDS", 0.3)
    first, second = Analytics(database, own_settings), Analytics(database, own_settings)
    await visit(database, org_id)
    assert await count(first, org_id) == 1
    os.kill(stopped := pid_of(own_settings), signal.SIGSTOP)
    path = Socket(own_settings.data_dir / "analytics").path
    move(path, f"{path}.aside")
    assert await count(second, org_id) == 1
    assert pid_of(own_settings) != stopped
    await first.close()
    await second.close()
