"""The process of the service's own mongod: how it is found, started, recognized and stopped.

The mongod inherits an open, locked file that no other process keeps open. So the lock is held exactly as long
as the mongod lives, even if the process that started it has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
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
# Bytes of the server's log; the one before it is kept beside it.
LARGEST_LOG = 10_000_000
_PROCESSES = Path("/proc")
# The descriptor of the lock in the child, which closes all other descriptors that it would inherit.
_LOCK_DESCRIPTOR = 3
# What mongod takes as a key; ours has 64 hexadecimal digits.
_KEY = re.compile(r"[A-Za-z0-9+/=]{6,1024}")
# The message of the system's loader, and the packages of Debian and Ubuntu that have mongod's libraries.
_MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^\s:]+)")
_PACKAGES = {
    "libcurl.so.4": "libcurl4",
    "libssl.so.3": "libssl3",
    "libcrypto.so.3": "libssl3",
    "liblzma.so.5": "liblzma5",
}


class MongoDBNotFound(OperatorError):
    """No mongod is installed, or it does not start."""


@dataclass(frozen=True, slots=True)
class Mongod:
    """The server of a folder, running or not. Only the folder's owner may enter the folder."""

    folder: Path

    @property
    def key_file(self) -> Path:
        """The file with the server's password."""
        return self.folder / "key"

    @property
    def key(self) -> str:
        """The password. Raises MongoDBNotFound where the file has none that a server takes."""
        if not self.has_key:
            raise MongoDBNotFound(
                f"{self.key_file} has no key, with which the MongoDB server of this folder was started. End "
                "that server, and start Waylink again, which makes a new key: no data depends on it."
            )
        return self._key_text

    @property
    def has_key(self) -> bool:
        """Whether there is a password that a server takes."""
        return bool(_KEY.fullmatch(self._key_text))

    @property
    def _key_text(self) -> str:
        try:
            return self.key_file.read_text(errors="replace").strip()
        except FileNotFoundError:
            return ""

    @property
    def errors(self) -> Path:
        """The file with the process's output when it could not start."""
        return self.folder / "mongod.err"

    @property
    def why_it_ended(self) -> str:
        """What its output says about a start that failed, and what to do about it."""
        output = self.errors.read_text(errors="replace").strip()
        missing = _MISSING_LIBRARY.search(output)
        return _how_to_install(missing[1]) if missing else output or f"see {self.log}"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "mongod.log"

    def bound_log(self, pids: list[int]) -> None:
        """Put the log aside once it is large, in the place of the one that was put aside before.

        `pids` are the server's processes, which begin a new log then.
        """
        with contextlib.suppress(FileNotFoundError):  # another process has just done so
            if self.log.stat().st_size < LARGEST_LOG:
                return
            self.log.replace(self.folder / "mongod.log.before")
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGUSR1)

    @property
    def data(self) -> Path:
        """The folder of the server's own files.

        It is in the server's command line, so it identifies the process.
        """
        return self.folder / "db"

    def take_lock(self) -> int | None:
        """The descriptor of an open file with the lock, for `spawn`; None if a server is running."""
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
        """Whether a server is running."""
        descriptor = self.take_lock()
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is None

    def spawn(self, port: int, lock: int) -> int:
        """Start the server and pass the lock to it. Returns its process id. Raises MongoDBNotFound.

        It runs in a session of its own: Ctrl-C is meant for the service, which stops the server last. It is
        not a subprocess.Popen, since it may outlive this process.
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
        """The processes that use this folder as their database. `likely` process ids are checked first."""
        candidates = [*likely, _number_in(self.data / "mongod.lock")]
        pids = [pid for pid in candidates if self.is_process(pid)]
        if pids or not _PROCESSES.is_dir():
            return list(dict.fromkeys(pids))
        all_pids = (int(entry.name) for entry in _PROCESSES.iterdir() if entry.name.isdecimal())
        return [pid for pid in all_pids if self.is_process(pid)]

    def is_process(self, pid: int) -> bool:
        """Whether this process is the folder's server. By now the id may belong to another process."""
        return pid > 0 and f" --dbpath {self.data} " in f"{_command_line(pid)} "

    def stop(self, pids: list[int], is_gone: Callable[[], bool]) -> None:
        """Ask these processes to end, even if they are suspended. Kill those that don't end in time."""
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
            # Otherwise each start would leave a file more.
            "--logappend", "--logRotate", "reopen",
            "--port", str(port),
            "--bind_ip", "127.0.0.1",
            "--replSet", REPLICA_SET,
            "--keyFile", str(self.key_file),
            "--oplogSize", "200",
            "--wiredTigerCacheSizeGB", "0.5",
            "--nounixsocket",
            # Nobody gets in without the key, also while there are no users.
            "--setParameter", "enableLocalhostAuthBypass=false",
            # A killed process's transaction keeps its documents locked for so long. Ours take milliseconds.
            "--setParameter", "transactionLifetimeLimitSeconds=5",
            # Otherwise it would record diagnostics every second, in up to 200 MB that nobody reads. That is a
            # third of its work while it is idle.
            "--setParameter", "diagnosticDataCollectionEnabled=false",
        ]  # fmt: skip


def find_mongod() -> Path:
    """The mongod on PATH, or else the one in the PyPI package. Raises MongoDBNotFound."""
    on_path = shutil.which("mongod")
    if on_path:
        return Path(on_path)
    packaged = Path(sysconfig.get_path("purelib")) / "fiftyone" / "db" / "bin" / "mongod"
    if packaged.is_file():
        return packaged
    raise MongoDBNotFound(
        "There is no mongod on this machine: install MongoDB 6 or newer, or "
        "`pip install 'waylink[embedded]'` (Linux and macOS), or set WAYLINK_MONGODB_URI to a replica set "
        "that runs elsewhere."
    )


def _how_to_install(library: str) -> str:
    package = _PACKAGES.get(library)
    how = f"on Debian and Ubuntu: apt-get install {package}" if package else "install the package that has it"
    return f"it needs the library {library}, which this machine does not have; {how}"


def is_running(pid: int) -> bool:
    """Whether the process is running. One that has ended but was not waited for is not."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # a child that ended stays in the process table until it is waited for
    return pid > 0 and bool(_command_line(pid))


def _command_line(pid: int) -> str:
    """The arguments of a process with spaces between them; empty if it does not exist."""
    with contextlib.suppress(OSError):
        if _PROCESSES.is_dir():
            arguments = (_PROCESSES / str(pid) / "cmdline").read_text(errors="replace")
            return arguments.replace("\0", " ").strip()
        # ps joins arguments by spaces, so an argument with a space can't be told from two arguments.
        command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    return ""


def _number_in(file: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text())
    return 0


def _close_inherited() -> Iterator[tuple[int, int]]:
    """Actions that close, in the child, the sockets and pipes that it would inherit.

    Hypercorn and multiprocessing leave these open.
    """
    for number in [int(entry.name) for entry in Path("/dev/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the one that listed them
            if number > 2 and os.get_inheritable(number):
                yield os.POSIX_SPAWN_CLOSE, number
