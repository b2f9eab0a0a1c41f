"""A MongoDB server of our own, for when none is configured.

It is a one-member replica set in the data folder, so that transactions and change streams work as in
production. Every process that needs it (the service, its workers, a command) holds a shared lock on a file
while it does: the first one starts the server, the last one stops it. The kernel releases a lock when its
process dies, so a service that was killed leaves nothing behind but a server that the next one takes over.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pymongo import MongoClient
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

REPLICA_SET = "waylink"
START_TIMEOUT = 60.0  # seconds; recovery after a crash replays the journal
STOP_TIMEOUT = 30.0
_WATCH_INTERVAL = 1.0
_NOT_YET_INITIALIZED = 94  # MongoDB's error code


class MongoDBNotFound(RuntimeError):
    """This machine has no mongod, or one that does not start."""


class EmbeddedMongoDB:
    """`async with EmbeddedMongoDB(folder) as server`: a server that runs at `server.uri`.

    A server that dies meanwhile is started again on the same port. Raises MongoDBNotFound.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._state = self._folder / "server.json"
        self._users: IO[str] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.port = 0

    @property
    def uri(self) -> str:
        """The address for clients, naming the replica set."""
        return f"mongodb://127.0.0.1:{self.port}/?replicaSet={REPLICA_SET}"

    async def __aenter__(self) -> EmbeddedMongoDB:
        await asyncio.to_thread(self._acquire)
        self._watcher = asyncio.create_task(self._keep_running())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watcher:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
        await asyncio.shield(asyncio.to_thread(self._release))

    def _acquire(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._starting():
            self._ensure_running()
            self._users = (self._folder / "users.lock").open("w")
            fcntl.flock(self._users, fcntl.LOCK_SH)

    def _release(self) -> None:
        with self._starting():
            if self._users is None:
                return
            fcntl.flock(self._users, fcntl.LOCK_UN)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stop()
            self._users.close()
            self._users = None

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """One process at a time starts or stops the server."""
        with (self._folder / "start.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _ensure_running(self) -> None:
        """Take over the server that runs in this folder, or start one."""
        state = self._read_state()
        self.port = state.get("port", 0)
        if not (self.port and _is_running(state.get("pid", 0)) and _answers(self.port)):
            self._start(self.port)
        _make_primary(self.port)

    def _read_state(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            state = json.loads(self._state.read_text())
            return state if isinstance(state, dict) else {}
        return {}

    def _start(self, wanted_port: int) -> None:
        self.port = wanted_port if wanted_port and _is_free(wanted_port) else _free_port()
        (self._folder / "db").mkdir(exist_ok=True)
        pid = self._spawn()
        self._state.write_text(json.dumps({"pid": pid, "port": self.port}))
        _wait_until_it_answers(pid, self.port, self._folder)

    def _spawn(self) -> int:
        """Start mongod in a session of its own: Ctrl-C is for the service, which stops the server last.

        Not a subprocess.Popen, since the server may well outlive this process.
        """
        mongod = find_mongod()
        errors = (
            os.POSIX_SPAWN_OPEN,
            2,
            self._folder / "mongod.err",
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
            0o600,
        )
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
        return os.posix_spawn(
            mongod,
            self._command(mongod),
            os.environ,
            file_actions=[*_close_inherited(), *quiet, errors],
            setsid=True,
        )

    def _command(self, mongod: Path) -> list[str]:
        return [
            str(mongod),
            "--dbpath", str(self._folder / "db"),
            "--logpath", str(self._folder / "mongod.log"),
            "--port", str(self.port),
            "--bind_ip", "127.0.0.1",
            "--replSet", REPLICA_SET,
            "--oplogSize", "200",
            "--wiredTigerCacheSizeGB", "0.5",
            "--nounixsocket",
            # What a killed process had begun locks its documents this long; ours take milliseconds.
            "--setParameter", "transactionLifetimeLimitSeconds=5",
        ]  # fmt: skip

    def _stop(self) -> None:
        pid = self._read_state().get("pid", 0)
        if not _is_running(pid):
            return
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT
        while _is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)

    async def _keep_running(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_INTERVAL)
            if not _is_running(self._read_state().get("pid", 0)):
                await asyncio.to_thread(self._restart)

    def _restart(self) -> None:
        with self._starting(), contextlib.suppress(MongoDBNotFound):
            self._ensure_running()


def find_mongod() -> Path:
    """The mongod on PATH, else the one in the PyPI package; raises MongoDBNotFound."""
    on_path = shutil.which("mongod")
    if on_path:
        return Path(on_path)
    packaged = Path(sysconfig.get_path("purelib")) / "fiftyone" / "db" / "bin" / "mongod"
    if packaged.is_file():
        return packaged
    raise MongoDBNotFound(
        "There is no mongod on this machine: install MongoDB 6 or newer, or "
        "`pip install 'waylink[embedded]'` (Linux x86-64), or set WAYLINK_MONGODB_URI to a replica set "
        "that runs elsewhere."
    )


def _close_inherited() -> Iterator[tuple[int, int]]:
    """Close what a child would keep open: Hypercorn and multiprocessing hand down the port and pipes."""
    for number in [int(each.name) for each in Path("/dev/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the one that listed them
            if number > 2 and os.get_inheritable(number):
                yield os.POSIX_SPAWN_CLOSE, number


def _is_running(pid: int) -> bool:
    if pid <= 0:
        return False
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a child that ended stays in the process table until it is waited for
    try:
        return "mongod" in Path(f"/proc/{pid}/comm").read_text() if Path("/proc").is_dir() else _exists(pid)
    except OSError:
        return False


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _admin(port: int) -> Iterator[Any]:
    client: MongoClient[dict[str, Any]] = MongoClient(
        "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=500
    )
    try:
        yield client.admin
    finally:
        client.close()


def _answers(port: int) -> bool:
    try:
        with _admin(port) as admin:
            admin.command("ping")
    except PyMongoError:
        return False
    return True


def _wait_until_it_answers(pid: int, port: int, folder: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    log = folder / "mongod.log"
    while not _answers(port):
        if not _is_running(pid):
            reason = (folder / "mongod.err").read_text().strip() or f"see {log}"
            raise MongoDBNotFound(f"mongod ended while it started: {reason}")
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise MongoDBNotFound(f"mongod did not answer within {START_TIMEOUT:.0f} s: see {log}")


def _make_primary(port: int) -> None:
    """Form the replica set, or tell it the port that its only member has now, and wait until it takes writes.

    The server closes its connections whenever its role changes, so each step may have to be tried again.
    """
    deadline = time.monotonic() + START_TIMEOUT
    while not _is_primary(port):
        if time.monotonic() > deadline:
            raise MongoDBNotFound(f"the MongoDB server did not become primary within {START_TIMEOUT:.0f} s")
        with contextlib.suppress(AutoReconnect), _admin(port) as admin:
            _configure_replica_set(admin, f"127.0.0.1:{port}")
        time.sleep(0.05)


def _is_primary(port: int) -> bool:
    with contextlib.suppress(AutoReconnect), _admin(port) as admin:
        return bool(admin.command("hello").get("isWritablePrimary"))
    return False


def _configure_replica_set(admin: Any, member: str) -> None:
    try:
        config = admin.command("replSetGetConfig")["config"]
    except OperationFailure as error:
        if error.code == _NOT_YET_INITIALIZED:
            admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": [{"_id": 0, "host": member}]})
        return
    if config["members"][0]["host"] != member:
        config["members"][0]["host"] = member
        config["version"] += 1
        admin.command("replSetReconfig", config, force=True)
