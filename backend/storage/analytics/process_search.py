"""Finds the process of this host that answers questions, starts it, and ends one that hangs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from pathlib import Path

from backend.concurrency.processes import who_locks
from backend.storage.analytics import process_start
from backend.storage.analytics.connection import ProcessConnection, Silent
from backend.storage.analytics.hello import AnotherVersion, Hello, source_digest
from backend.storage.analytics.messages import LOCK, Socket, Start
from backend.storage.analytics.process_start import StartedProcess
from backend.storage.analytics.question import NoAnswer
from backend.system.private_folder import private_folder

# How long somebody is looked for who answers.
_START_SECONDS = 15.0
# A process that has the folder for so long and does not listen was stopped, and is replaced.
_DEAF_SECONDS = 30.0
# A process of another version ends soon after the service that asks it: so long its end is waited for.
_OTHERS_SECONDS = 3.0
_LOOK_EVERY, _LOOK_AT_OTHERS_EVERY = 0.02, 0.2
_logger = logging.getLogger(__name__)


class ProcessSearch:
    """Looks for the process of a folder, again and again while there is none."""

    def __init__(self, start: Start) -> None:
        """`start` is how the process is started."""
        source_digest()  # before its files are replaced
        self._start = start
        self._folder = Path(start.folder)
        self._lock = self._folder / LOCK
        self._started: StartedProcess | None = None
        # Who has the folder and does not listen, and since when by time.monotonic.
        self._deaf: tuple[int | None, float] = (None, 0.0)

    async def connected(self) -> ProcessConnection:
        """A connection to it. Raises NoAnswer, which says why there is none."""
        try:
            private_folder(self._folder)
        except OSError as error:
            raise NoAnswer(f"The folder of the figures, {self._folder}, can't be used: {error}") from error
        began, self._started = time.monotonic(), None
        while time.monotonic() - began < _START_SECONDS:
            pause = _LOOK_EVERY
            try:
                connection = await ProcessConnection.open(Socket(self._folder).path)
            except Silent as silent:
                self._end_silent(silent.pid)
            except AnotherVersion as another:
                if time.monotonic() - began > _OTHERS_SECONDS:
                    raise _of_another_version(another.hello) from None
                pause = _LOOK_AT_OTHERS_EVERY
            except OSError:  # nobody listens
                await self._start_one()
            else:
                self._deaf = (None, 0.0)
                return connection
            await asyncio.sleep(pause)
        raise NoAnswer("The process that has the figures does not start; see the log. Ask again soon.")

    async def _start_one(self) -> None:
        """Start the process, unless one begins or ends just now."""
        if pid := who_locks(self._lock):
            self._end_deaf(pid)
            return
        if self._started:
            if self._started.poll() is None:
                return
            if self._started.complaint:
                raise NoAnswer(f"The process that has the figures can't start: {self._started.complaint}")
        try:
            self._started = await asyncio.to_thread(process_start.start_process, self._start)
        except OSError as error:
            raise NoAnswer(
                f"The process that has the figures can't be started: {error}. Redirects go on; once the "
                "machine has room again, so do the figures."
            ) from error

    def _end_silent(self, pid: int | None) -> None:
        """End a process that says nothing, if it still has the folder: its files are whole, whenever it ends.

        Another one may have taken its place meanwhile.
        """
        if pid is not None and pid == who_locks(self._lock):
            _end(pid)

    def _end_deaf(self, pid: int) -> None:
        """End a process that has the folder, and has not listened for long."""
        known, since = self._deaf
        if known != pid:
            self._deaf = (pid, time.monotonic())
        elif time.monotonic() - since > _DEAF_SECONDS:
            _end(pid)


def _end(pid: int) -> None:
    _logger.warning("The process %s, which has the figures, says nothing and is replaced", pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _of_another_version(hello: Hello) -> NoAnswer:
    return NoAnswer(
        f"Another version of Waylink, {hello.version}, answers questions about this data folder, by process "
        f"{hello.pid}, until its service is stopped. Ask again then; if this is the older one, restart it."
    )


async def look_for_another_version(folder: Path) -> None:
    """Look who answers questions about this folder now. Raises AnotherVersion; starts and ends nothing."""
    with contextlib.suppress(OSError, Silent):
        connection = await ProcessConnection.open(Socket(folder).path)
        await connection.close()
