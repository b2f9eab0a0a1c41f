"""The MongoDB that Waylink starts by itself starts again, always: whoever is killed, and whenever.

No indexes are made: they cost as much as the start of a server, and nothing here is about them.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from backend.concurrency.processes import is_stopped
from backend.settings import Settings
from backend.storage.accounts import organizations
from backend.storage.database import Indexes, open_database
from backend.storage.embedded import mongodb as embedded_mongodb
from backend.storage.embedded.mongod_process import Mongod, MongoDBNotFound, is_running
from backend.storage.embedded.mongodb import EmbeddedMongoDB, MongoDBHangs
from tests.facts.organizations import create_test_organization
from tests.faults.mongod import mongod_of, stopped_mongod
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import until, wait_for
from tests.processes.forked.service import FORK_SERVER, forked_command
from tests.processes.service_process import (
    ServiceProcess,
    environment_of,
    free_port,
    run_command,
    service_process,
)

# Seconds after mongod appeared at which its starter is killed.
DELAYS = (0.0, 0.1, 0.3, 0.6)


class User:
    """A process that uses the server of a folder."""

    def __init__(self, folder: Path) -> None:
        self._opened, theirs = FORK_SERVER.Pipe(duplex=False)
        self._process = FORK_SERVER.Process(target=_use, args=(folder, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def wait_until_open(self) -> None:
        """Return once the process has its server."""
        assert self._opened.recv_bytes() == b"open"

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()


def _use(folder: Path, opened: Connection) -> None:
    async def use() -> None:
        async with EmbeddedMongoDB(folder):
            opened.send_bytes(b"open")
            await asyncio.sleep(600)

    asyncio.run(use())


@contextmanager
def user_of(folder: Path) -> Iterator[User]:
    """A process that uses the server of the folder, for the length of the block."""
    user = User(folder)
    try:
        yield user
    finally:
        user.kill()


def servers_of(folder: Path) -> list[int]:
    """Every process that has the folder open as its database."""
    mongod, every = (
        Mongod(folder),
        (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()),
    )
    return [pid for pid in every if mongod.is_process(pid)]


def listens(service: ServiceProcess) -> bool:
    """Whether a process still has the port."""
    try:
        httpx.get(f"{service.base_url}/healthz", timeout=2)
    except httpx.ConnectError:
        return False
    except httpx.TransportError:
        return True
    return True


@pytest.fixture(scope="module")
async def used(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """The data folder of a server that a process uses: one for all tests that end neither of them."""
    data_dir = tmp_path_factory.mktemp("used") / "data"
    with user_of(data_dir / "mongodb") as user:
        user.wait_until_open()
        yield data_dir
    await open_and_close(data_dir)
    assert servers_of(data_dir / "mongodb") == []


@pytest.mark.parametrize("delay", DELAYS)
async def test_a_start_that_was_killed_is_in_nobodys_way(tmp_path: Path, delay: float) -> None:
    """kill -9 right after mongod was spawned, before or after that was noted: the next one uses its server or
    starts one, and the last one leaves none behind."""
    folder = tmp_path / "mongodb"
    with user_of(folder) as starter:
        spawned = wait_for(lambda: servers_of(folder), "no mongod was spawned")
        # A moment among others, not a wait for something.
        await asyncio.sleep(delay)
        starter.kill()
    async with open_database(Settings(data_dir=tmp_path), Indexes.LEAVE) as database:
        await create_test_organization(database)
        assert servers_of(folder) == [mongod_of(tmp_path)] == spawned
    assert servers_of(folder) == []


def test_a_service_that_is_killed(tmp_path: Path) -> None:
    """The same with all processes of the whole service as it starts; it starts again and answers. kill -9 of
    the service itself: its workers stop too, and stop the server that they had.

    What --data-dir names was made, and is there for a command: with nothing running, it starts the server for
    as long as it needs it.
    """
    named = ("--data-dir", str(tmp_path / "data"))
    folder = tmp_path / "data" / "mongodb"
    environment = environment_of(tmp_path, WAYLINK_PORT=str(free_port()))
    with forked_command(environment, tmp_path / "log", [*named, "serve"]) as service:
        wait_for(lambda: servers_of(folder), "no mongod was spawned", seconds=60)
        ServiceProcess(service, environment, "").kill()
    with service_process(tmp_path / "data", WAYLINK_WORKERS="2") as again:
        created = again.command("organization", "create", "Mine")
        assert servers_of(folder) == [mongod_of(tmp_path / "data")]
        again.stop(signal.SIGKILL)
        wait_for(lambda: not listens(again), "workers went on without the service", seconds=30)
        wait_for(lambda: not servers_of(folder), "a server is left", seconds=30)
    listed = run_command(*named, "organization", "list", environment={})["organizations"]
    assert [organization["id"] for organization in listed] == [created["id"]]
    assert servers_of(folder) == []


async def test_a_command_waits_for_a_server_that_stands_still(used: Path) -> None:
    """A server that misses pings for two seconds is waited for: nothing is noted or started meanwhile."""
    noted = (used / "mongodb" / "server.json").read_text()
    with stopped_mongod(used):
        opening = asyncio.create_task(open_and_close(used))
        await asyncio.sleep(2)  # how long it stands still
        assert len(servers_of(used / "mongodb")) == 1
    await opening
    assert (used / "mongodb" / "server.json").read_text() == noted
    assert servers_of(used / "mongodb") == [mongod_of(used)]


async def test_a_server_that_others_use_is_left_alone(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stands still for long is told of by its process, and goes on for those who use it."""
    server = mongod_of(used)
    with stopped_mongod(used), monkeypatch.context() as patch:
        patch.setattr(embedded_mongodb, "_ANSWER_TIMEOUT", 1.0)
        with pytest.raises(MongoDBHangs, match=f"process {server}, .* does not answer"):
            await open_and_close(used)
    await open_and_close(used)
    assert servers_of(used / "mongodb") == [server]


STOPPED_IN_THE_MIDDLE = """
import fcntl, os, signal, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
os.kill(os.getpid(), signal.SIGSTOP)
"""


def process_of(program: str, *arguments: Path) -> subprocess.Popen[bytes]:
    """A process that runs this Python."""
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)])


async def test_a_command_stopped_as_it_starts_the_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever needs the server waits for it a while, and is told whom to let go on; a stop does not wait.

    The server that it leaves to nobody is taken over, and never joined by a second, whatever its note says.
    """
    monkeypatch.setattr(embedded_mongodb, "_ANSWER_TIMEOUT", 0.5)
    folder = tmp_path / "mongodb"
    lock = folder / "start.lock"
    async with EmbeddedMongoDB(folder) as used:
        with process_of(STOPPED_IN_THE_MIDDLE, lock) as stopped:
            await until(lambda: is_stopped(stopped.pid), "it does not stop")
            with pytest.raises(MongoDBNotFound, match=f"The process {stopped.pid}, which was stopped"):
                await EmbeddedMongoDB(folder).__aenter__()
            began = time.monotonic()
            await used.__aexit__()
            assert time.monotonic() - began < 20
            stopped.send_signal(signal.SIGCONT)
        assert Mongod(folder.resolve()).is_locked()  # the server goes on
        [server] = servers_of(folder)
        note = json.loads((folder / "server.json").read_text())
        (folder / "server.json").write_text(json.dumps(note | {"pid": os.getpid()}))
        async with open_database(Settings(data_dir=tmp_path), Indexes.LEAVE):
            assert servers_of(folder) == [server] == [mongod_of(tmp_path)]
    assert not Mongod(folder.resolve()).is_locked()
    assert servers_of(folder) == []


async def test_an_orphan_that_never_answers_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: TellOutcome
) -> None:
    """A server that nobody uses and that does not answer makes room for a new one, with all its data.

    Nor does the last user leave behind one that stands still, or wait for it.
    """
    with user_of(tmp_path / "mongodb") as user:
        user.wait_until_open()
        async with open_database(Settings(data_dir=tmp_path), Indexes.LEAVE) as database:
            created = await create_test_organization(database)
        server = mongod_of(tmp_path)
        os.kill(server, signal.SIGSTOP)
    for name, seconds in {"_ANSWER_TIMEOUT": 0.5, "_ORPHAN_ANSWER_TIMEOUT": 1.0}.items():
        monkeypatch.setattr(embedded_mongodb, name, seconds)
    async with open_database(Settings(data_dir=tmp_path), Indexes.LEAVE) as database:
        stored = await database["organizations"].count_documents({})
        outcome(Outcome("own MongoDB hangs as an orphan and is killed (organizations)", 1, stored))
        assert (await organizations.get_organization(database, created.id)).id == created.id
        assert servers_of(tmp_path / "mongodb") == [mongod_of(tmp_path)] != [server]
        server = mongod_of(tmp_path)
        os.kill(server, signal.SIGSTOP)
        began = time.monotonic()
    assert not is_running(server)
    assert time.monotonic() - began < 20


async def test_nobody_gets_in_without_the_password(used: Path) -> None:
    """Other users of the machine can't enter the folder, and reach nothing over the port: no data, no names,
    no new user, no stop."""
    folder = used / "mongodb"
    async with open_database(Settings(data_dir=used), Indexes.LEAVE) as database:
        await create_test_organization(database)
        port = int(json.loads((folder / "server.json").read_text())["port"])
        with MongoClient[dict[str, object]]("127.0.0.1", port, directConnection=True) as stranger:
            for work in (
                stranger["waylink"]["organizations"].find_one,
                stranger.list_database_names,
                lambda: stranger.admin.command("createUser", "me", pwd="x", roles=["root"]),
                lambda: stranger.admin.command("shutdown"),
            ):
                with pytest.raises(OperationFailure, match=r"requires authentication|not authorized"):
                    work()
        for path in (used, folder, folder / "db"):
            assert path.stat().st_mode & 0o777 == 0o700, path
        assert (folder / "key").stat().st_mode & 0o777 == 0o600


async def open_and_close(data_dir: Path) -> None:
    """Use the database as a command does."""
    async with open_database(Settings(data_dir=data_dir), Indexes.LEAVE):
        pass
