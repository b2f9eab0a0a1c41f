"""The service's own MongoDB server, which is used if none is configured.

It is a replica set with one member in the data folder, so that transactions and change streams work as in
production. Every process that uses it (the service, its workers, a command) holds a shared lock on a file:
the first one starts the server, the last one stops it. The server holds a lock of its own while it runs. The
kernel releases the locks of a process that dies. So the next process knows the server's state: one that a
killed process left running is taken over, one that does not answer is stopped, and one that died is started
again.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.processes import is_stopped, who_locks
from backend.storage.embedded.mongod_admin import START_TIMEOUT, MongodAdmin
from backend.storage.embedded.mongod_process import STOP_TIMEOUT, Mongod, MongoDBNotFound, is_running
from backend.system.private_folder import private_folder

# Seconds that a server which other processes use may take to answer. They have waited for its start already.
_ANSWER_TIMEOUT = 10.0
# The same for a server that no process uses. It may still be starting.
_ORPHAN_ANSWER_TIMEOUT = START_TIMEOUT
# The longest that a process holds the start lock: to stop a hanging server and start another one.
_LONGEST_START = START_TIMEOUT + 3 * STOP_TIMEOUT
_WATCH_INTERVAL = 1.0
_START_ATTEMPTS = 3


class MongoDBHangs(MongoDBNotFound):
    """The server runs but does not answer, and other processes use it."""

    def __init__(self, folder: Path, pids: list[int]) -> None:
        process = f", process {pids[0]}," if pids else ""
        super().__init__(
            f"The MongoDB server{process} of {folder} lives but does not answer: see its mongod.log. "
            "Others use it, so it is left alone; stop the service that uses it to have it started again."
        )


class StartStandsStill(MongoDBNotFound):
    """Another process has begun to start or to stop the server, and does not go on."""

    def __init__(self, folder: Path, pid: int | None, seconds: float) -> None:
        process = f"The process {pid}" if pid else "Another process"
        state = ", which was stopped (by Ctrl-Z, SIGSTOP or a debugger)," if pid and is_stopped(pid) else ""
        super().__init__(
            f"{process}{state} has been starting or stopping the MongoDB server of {folder} for "
            f"{seconds:.0f} s. Let it go on (`fg`, or kill -CONT), or end it."
        )


class EmbeddedMongoDB:
    """`async with EmbeddedMongoDB(folder) as server`: a MongoDB server at `server.uri`.

    If the server dies, it is started again on the same port. Raises MongoDBNotFound.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._mongod = Mongod(self._folder)
        self._state = self._folder / "server.json"
        self._users: IO[str] | None = None
        self._watching = BackgroundTask("keeping MongoDB running", self._keep_running)
        self._admin = MongodAdmin(0, "")

    @property
    def port(self) -> int:
        """The port of this machine on which the server listens."""
        return self._admin.port

    @property
    def uri(self) -> str:
        """The address for clients, with the password and the name of the replica set."""
        return self._admin.uri

    async def __aenter__(self) -> EmbeddedMongoDB:
        await asyncio.to_thread(self._acquire)
        await self._watching.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._watching.stop()
        await asyncio.shield(asyncio.to_thread(self._release))

    def _acquire(self) -> None:
        private_folder(self._folder.parent)
        private_folder(self._folder)
        began = time.monotonic()
        while not self._try_to_acquire():
            waited = time.monotonic() - began
            if waited > _ANSWER_TIMEOUT:
                self._end_silence(waited)
            time.sleep(0.1)

    def _try_to_acquire(self) -> bool:
        """Use the server, starting it if needed. Returns False if it runs but does not answer.

        It does not wait for an answer, since other processes may need the lock to stop the server.
        """
        with self._starting():
            if not self._run():
                return False
            self._users = (self._folder / "users.lock").open("w")
            fcntl.flock(self._users, fcntl.LOCK_SH)
            return True

    def _end_silence(self, waited: float) -> None:
        """Handle a server that has not answered for `waited` seconds.

        If other processes use it, raise MongoDBHangs. Otherwise stop it once it has had enough time for a
        start.
        """
        with self._starting():
            if self._is_used():
                raise MongoDBHangs(self._folder, self._processes())
            if waited > _ORPHAN_ANSWER_TIMEOUT:
                self._stop()
                if self._mongod.is_locked():
                    raise MongoDBHangs(self._folder, self._processes())

    def _release(self) -> None:
        users = self._users
        if users is None:
            return
        # If another process holds the start lock and does not go on, the server keeps running. The next
        # process that needs it takes it over.
        with contextlib.suppress(StartStandsStill), self._starting():
            fcntl.flock(users, fcntl.LOCK_UN)
            if not self._is_used():
                self._stop()
            self._users = None
        self._users = None
        users.close()

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """In this block, no other process starts or stops the server. Raises StartStandsStill."""
        file = self._folder / "start.lock"
        with file.open("w") as lock:
            began = time.monotonic()
            while not _is_taken(lock):
                waited, holder = time.monotonic() - began, who_locks(file)
                stands_still = holder is not None and is_stopped(holder)
                if waited > (_ANSWER_TIMEOUT if stands_still else _LONGEST_START):
                    raise StartStandsStill(self._folder, holder, waited)
                time.sleep(0.05)
            yield

    def _is_used(self) -> bool:
        """Whether any process holds the lock for users of the server."""
        with (self._folder / "users.lock").open("w") as users:
            return not _is_taken(users)

    def _run(self) -> bool:
        """Start the server, or take over the running one. Returns False if that does not answer."""
        lock = self._mongod.take_lock()
        if lock is not None:
            try:
                self._start(lock)
            finally:
                os.close(lock)
            return True
        state = self._read_state()
        self._admin = MongodAdmin(state.get("port", 0), self._mongod.key)
        is_primary = self._admin.is_primary()
        if is_primary is None:
            return False
        if not is_primary:
            self._admin.make_primary()
        if not self._mongod.is_process(state.get("pid", 0)):
            # The process that started the server was killed before it could store the server's process id.
            self._write_state(pid=next(iter(self._processes()), 0), port=self.port)
        return True

    def _processes(self) -> list[int]:
        return self._mongod.find_processes(self._read_state().get("pid", 0))

    def _read_state(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            state = json.loads(self._state.read_text())
            return state if isinstance(state, dict) else {}
        return {}

    def _write_state(self, **state: int) -> None:
        """Store the server's port and process id. The file is replaced in one step."""
        _write_privately(self._state, json.dumps(state))

    def _start(self, lock: int) -> None:
        if not self._mongod.has_key:  # such as an empty file, after a disk was full
            _write_privately(self._mongod.key_file, secrets.token_hex(32))
        port = self._read_state().get("port", 0)
        for _ in range(_START_ATTEMPTS):
            port = port if port and _is_free(port) else _free_port()
            self._admin = MongodAdmin(port, self._mongod.key)
            # If this process is killed now, the next one must know on which port the server will listen.
            self._write_state(pid=0, port=port)
            self._mongod.bound_log([])
            pid = self._mongod.spawn(port, lock)
            self._write_state(pid=pid, port=port)
            if self._wait_until_it_answers(pid):
                self._admin.make_primary()
                return
        raise MongoDBNotFound(f"mongod found no free port in {_START_ATTEMPTS} tries: see {self._mongod.log}")

    def _wait_until_it_answers(self, pid: int) -> bool:
        """Wait for a starting server. Returns False if another process took its port.

        Raises MongoDBNotFound.
        """
        deadline = time.monotonic() + START_TIMEOUT
        while self._admin.is_primary() is None:
            if not is_running(pid):
                if not _is_free(self._admin.port):
                    return False
                raise MongoDBNotFound(f"mongod ended while it started: {self._mongod.why_it_ended}")
            if time.monotonic() > deadline:
                self._mongod.stop([pid], lambda: not is_running(pid))
                raise MongoDBNotFound(
                    f"mongod did not answer within {START_TIMEOUT:.0f} s: see {self._mongod.log}"
                )
        return True

    def _stop(self) -> None:
        if self._mongod.is_locked():
            self._mongod.stop(self._processes(), lambda: not self._mongod.is_locked())

    async def _keep_running(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_INTERVAL)
            # In a thread: a disk that hangs, or a slow start, must not block the event loop.
            await asyncio.to_thread(self._restart_if_dead)

    def _restart_if_dead(self) -> None:
        pid = self._read_state().get("pid", 0)
        if self._mongod.is_process(pid):
            self._mongod.bound_log([pid])
            return
        with self._starting():
            if self._users is not None:  # else it was stopped meanwhile, and nobody would stop it again
                self._run()


def _is_taken(lock: IO[str]) -> bool:
    """Take the lock, unless another process has it. Returns whether it is taken."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _write_privately(file: Path, text: str) -> None:
    """Write the text to a file that only its owner may read, completely or not at all."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
