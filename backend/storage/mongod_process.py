"""A mongod of our own as a process: how it is found, started, recognized and stopped.

It inherits a locked file that nobody else keeps open: the lock is held for exactly as long as the process
lives, whatever becomes of the one that started it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import OperatorError

REPLICA_SET = "waylink"
STOP_TIMEOUT = 30.0  # seconds; then the process is killed, and the next one replays its journal
_PROCESSES = Path("/proc")
# Where the lock is opened in the child, which closes what else it would inherit.
_LOCK_DESCRIPTOR = 3


class MongoDBNotFound(OperatorError):
    """This machine has no mongod, or one that does not start."""


@dataclass(frozen=True, slots=True)
class Mongod:
    """The server of a folder, whether it runs or not. Nobody but the folder's owner may enter that."""

    folder: Path

    @property
    def key_file(self) -> Path:
        """The file with the password, which clients prove to know."""
        return self.folder / "key"

    @property
    def key(self) -> str:
        """The password's text."""
        return self.key_file.read_text().strip()

    @property
    def errors(self) -> Path:
        """What the process printed when it could not start."""
        return self.folder / "mongod.err"

    @property
    def log(self) -> Path:
        """Its log."""
        return self.folder / "mongod.log"

    @property
    def data(self) -> Path:
        """Its own files. That they are named in its command line tells the process from every other one."""
        return self.folder / "db"

    def take_lock(self) -> int | None:
        """An open file that holds the lock, for `spawn`; None where a server lives."""
        descriptor = os.open(self.folder / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        # Away from the numbers that the child gives its own files.
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(descriptor)
        return moved

    def is_locked(self) -> bool:
        """Whether a server lives."""
        descriptor = self.take_lock()
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is None

    def spawn(self, port: int, lock: int) -> int:
        """Start the server, which from now on holds the lock; its process id. Raises MongoDBNotFound.

        It gets a session of its own: Ctrl-C is for the service, which stops the server last. Not a
        subprocess.Popen, since the server may well outlive this process.
        """
        mongod = find_mongod()
        self.data.mkdir(mode=0o700, exist_ok=True)
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        errors = (os.POSIX_SPAWN_OPEN, 2, self.errors, flags, 0o600)
        keep_lock = (os.POSIX_SPAWN_DUP2, lock, _LOCK_DESCRIPTOR)
        return os.posix_spawn(
            mongod,
            self._command(mongod, port),
            os.environ,
            file_actions=[*_close_inherited(), *quiet, errors, keep_lock],
            setsid=True,
        )

    def find_processes(self, *likely: int) -> list[int]:
        """The processes that have this folder open as their database; `likely` ones are looked at first."""
        noted = [*likely, _number_in(self.data / "mongod.lock")]
        found = [pid for pid in noted if self.is_process(pid)]
        if found or not _PROCESSES.is_dir():
            return list(dict.fromkeys(found))
        every = (int(each.name) for each in _PROCESSES.iterdir() if each.name.isdecimal())
        return [pid for pid in every if self.is_process(pid)]

    def is_process(self, pid: int) -> bool:
        """Whether this process is the folder's server: a number alone may be another process's by now."""
        return pid > 0 and str(self.data) in _command_line(pid)

    def stop(self, pids: list[int], is_gone: Callable[[], bool]) -> None:
        """Have these processes end by themselves, also where they stand still; kill those that don't."""
        for number, seconds in ((signal.SIGTERM, STOP_TIMEOUT), (signal.SIGKILL, STOP_TIMEOUT)):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
                    os.kill(pid, signal.SIGCONT)
            deadline = time.monotonic() + seconds
            while not is_gone() and time.monotonic() < deadline:
                time.sleep(0.05)
            if is_gone():
                return

    def _command(self, mongod: Path, port: int) -> list[str]:
        return [
            str(mongod),
            "--dbpath", str(self.data),
            "--logpath", str(self.log),
            "--port", str(port),
            "--bind_ip", "127.0.0.1",
            "--replSet", REPLICA_SET,
            "--keyFile", str(self.key_file),
            "--oplogSize", "200",
            "--wiredTigerCacheSizeGB", "0.5",
            "--nounixsocket",
            # Nobody gets in without the key, also while there are no users.
            "--setParameter", "enableLocalhostAuthBypass=false",
            # What a killed process had begun locks its documents this long; ours take milliseconds.
            "--setParameter", "transactionLifetimeLimitSeconds=5",
        ]  # fmt: skip


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


def is_running(pid: int) -> bool:
    """Whether the process is there; one that ended and waits for its parent is not."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a child that ended stays in the process table until it is waited for
    return pid > 0 and bool(_command_line(pid))


def _command_line(pid: int) -> list[str]:
    """The arguments of a process; empty where there is none."""
    with contextlib.suppress(OSError):
        if _PROCESSES.is_dir():
            return (_PROCESSES / str(pid) / "cmdline").read_text(errors="replace").split("\0")
        command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return shown.stdout.split()
    return []


def _number_in(file: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text())
    return 0


def _close_inherited() -> Iterator[tuple[int, int]]:
    """Close what a child would keep open: Hypercorn and multiprocessing hand down the port and pipes."""
    for number in [int(each.name) for each in Path("/dev/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the one that listed them
            if number > 2 and os.get_inheritable(number):
                yield os.POSIX_SPAWN_CLOSE, number
