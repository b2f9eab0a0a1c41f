"""Processes that have the figures, forked from one that has imported what they need, for a fifth of the cost.

What is forked does all else as if it had been started. The process that forks is started with the service
that tests share, or once somebody asks for figures: many tests never do.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.storage.analytics.messages import Start
from backend.storage.analytics.process_start import MODULE

# Where services find the process that forks, also those that are forked themselves.
_ADDRESS = "FORKED_ANALYTICS"
_PARENT_SECONDS = 5.0  # between two looks whether it is still there
_MOST_BYTES = 1 << 16


class ForkedAnalytics:
    """A forked process, which keeps its end of a connection until it ends."""

    def __init__(self, connection: socket.socket) -> None:
        self.complaint = ""
        self._connection = connection
        threading.Thread(target=self._wait, name="end of forked analytics", daemon=True).start()

    def poll(self) -> int | None:
        """0 once it has ended; None while it runs."""
        return None if self._connection.fileno() >= 0 else 0

    def _wait(self) -> None:
        with self._connection, self._connection.makefile() as said:
            self.complaint = said.read().strip()


def start_forked(start: Start) -> ForkedAnalytics:
    """Have the process forked, which writes to this one's stderr."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(os.environ[_ADDRESS])
    socket.send_fds(connection, [json.dumps(asdict(start)).encode() + b"\n"], [2])
    return ForkedAnalytics(connection)


def get_ready_to_fork() -> None:
    """Have the process that forks started, so that the first question does not wait for its imports."""
    with socket.socket(socket.AF_UNIX) as connection:  # which asks for nothing: what is forked for it ends
        connection.connect(os.environ[_ADDRESS])


@contextmanager
def forking_analytics() -> Iterator[None]:
    """A block in which such processes can be forked, by this process and by all that it starts."""
    with TemporaryDirectory(prefix="waylink-") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{folder}/socket")
        listening.listen()
        os.environ[_ADDRESS] = listening.getsockname()
        threading.Thread(target=_start_once_asked, args=(listening,), daemon=True).start()
        yield
        del os.environ[_ADDRESS]


def _start_once_asked(listening: socket.socket) -> None:
    select.select([listening], [], [])
    if listening.fileno() >= 0:
        command = [sys.executable, "-m", __name__]
        # A test may have changed the directory meanwhile, where nobody finds this module.
        subprocess.run(
            command,
            stdin=listening.fileno(),
            start_new_session=True,
            check=False,
            cwd=Path(__file__).parents[3],
        )


def _fork_until_nobody_asks() -> None:
    """Fork a process for each connection to the socket that is stdin, as long as its parent lives."""
    process, parent = import_module(MODULE), os.getppid()
    import_module(process.SERVER)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so nobody has to wait for them
    with socket.socket(fileno=os.dup(0)) as listening:
        listening.settimeout(_PARENT_SECONDS)
        while os.getppid() == parent:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection:
                if not os.fork():
                    listening.close()
                    try:
                        _take_over(connection)
                        process.main()
                    finally:
                        os._exit(1)


def _take_over(connection: socket.socket) -> None:
    """Become the process that was asked for by this connection, which stays open until its end."""
    line, [stderr], *_ = socket.recv_fds(connection, _MOST_BYTES, 1)
    os.dup2(stderr, 2)
    os.dup2(connection.fileno(), 1)
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.stdin = io.StringIO(line.decode())


if __name__ == "__main__":
    _fork_until_nobody_asks()
