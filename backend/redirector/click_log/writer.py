"""Writes click logs in a thread of its own, so that a disk that hangs does not block visitors."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from backend.redirector.click_log.files import ClickLog

ResultT = TypeVar("ResultT")
# Seconds between two checks of the thread. Nobody waits for the disk longer than two such pauses.
_LOOK_EVERY = 0.25
# The thread takes all waiting lines at once, so this many wait only if the disk hangs.
_MOST_WAITING = 10_000
_logger = logging.getLogger(__name__)


class WriteResult(Enum):
    """What happened to a record that was to be written."""

    ON_DISK = auto()
    REFUSED = auto()  # it is not in the log, and never will be
    LATE = auto()  # the disk hangs: only later is it known whether the record is in the log


_ON_DISK = WriteResult.ON_DISK
# A record, and the future that gets what happened to it.
_Entry = tuple[bytes, asyncio.Future[WriteResult]]


class LogWriter:
    """The thread, and the `log` that it writes. `refused_late` gets lines that were LATE and then refused.

    Lines that arrive during a write are written together by the next one.
    """

    def __init__(self, log: ClickLog, refused_late: Callable[[Sequence[bytes]], None]) -> None:
        self.log = log  # replaced within `run` only, so between two writes
        self._refused_late = refused_late
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lines: deque[_Entry] = deque()
        self._is_announced = False  # a job that writes the lines is in the queue
        self._in_hand: Sequence[_Entry] = ()
        self._asked = self._finished = 0  # jobs
        self._finished_before = 0
        self._look: asyncio.TimerHandle | None = None
        self._hangs = self._refuses = False
        threading.Thread(target=self._work, name="click log", daemon=True).start()

    def write(self, line: bytes) -> asyncio.Future[WriteResult]:
        """Write a line. The result says what happened to it, after half a second at the latest."""
        settled: asyncio.Future[WriteResult] = self._loop.create_future()
        if self._hangs or len(self._lines) >= _MOST_WAITING:
            settled.set_result(WriteResult.REFUSED)
            return settled
        self._lines.append((line, settled))
        if not self._is_announced:
            self._is_announced = True
            self._ask(self._write_lines)
        return settled

    async def run(self, job: Callable[[], ResultT]) -> ResultT:
        """Run another job on the disk and return its result, however long it takes."""
        done: asyncio.Future[ResultT] = self._loop.create_future()

        def work() -> None:
            try:
                result = job()
            except Exception as error:  # raised to who waits
                self._tell(partial(_unless_done, done, partial(done.set_exception, error)))
            else:
                self._tell(partial(_unless_done, done, partial(done.set_result, result)))

        self._ask(work)
        return await done

    def end(self) -> None:
        """End the thread once it has done all its jobs."""
        if self._look:
            self._look.cancel()
        self._jobs.put(None)

    def _ask(self, job: Callable[[], None]) -> None:
        self._asked += 1
        self._jobs.put(job)
        if self._look is None:
            self._finished_before = self._finished
            self._look = self._loop.call_later(_LOOK_EVERY, self._look_whether_it_moves)

    def _look_whether_it_moves(self) -> None:
        self._look = None
        moved = self._finished > self._finished_before
        waits = self._asked > self._finished
        if waits and not moved and not self._hangs:
            _logger.error("The disk of the click log hangs: clicks go to the database")
        self._hangs = waits and not moved
        if self._hangs:
            self._give_back()
        if waits:
            self._finished_before = self._finished
            self._look = self._loop.call_later(_LOOK_EVERY, self._look_whether_it_moves)

    def _give_back(self) -> None:
        """Stop waiting: lines that the thread has not started to write will not be written."""
        with contextlib.suppress(IndexError):
            while True:
                _settle(self._lines.popleft()[1], WriteResult.REFUSED)
        for _, settled in self._in_hand:
            _settle(settled, WriteResult.LATE)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:  # the next ones, for which others wait, are done all the same
                _logger.exception("Work on the click log failed")
            self._finished += 1

    def _write_lines(self) -> None:
        self._is_announced = False  # first, so that lines that arrive from now on start a new job
        self._in_hand = entries = []
        with contextlib.suppress(IndexError):
            while True:
                entries.append(self._lines.popleft())
        if not entries:
            return
        written, refusal = 0, ""
        try:
            written = self.log.append([line for line, _ in entries])
        except Exception as error:  # also where memory is missing, and not the disk
            refusal = str(error) or type(error).__name__
        self._tell(lambda: self._settle_all(entries, written, refusal))

    def _settle_all(self, entries: Sequence[_Entry], written: int, refusal: str) -> None:
        for _, settled in entries[:written]:
            _settle(settled, _ON_DISK)
        refused_late = [
            line for line, settled in entries[written:] if not _settle(settled, WriteResult.REFUSED)
        ]
        if refused_late:
            self._refused_late(refused_late)
        if refusal and not self._refuses:
            _logger.error("The click log can't be written, clicks go to the database: %s", refusal)
        self._refuses = bool(refusal)

    def _tell(self, what: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits any more
            self._loop.call_soon_threadsafe(what)


def _settle(settled: asyncio.Future[WriteResult], result: WriteResult) -> bool:
    """Report what happened to a line. Returns False if that was reported before."""
    if settled.done():
        return False
    settled.set_result(result)
    return True


def _unless_done(future: asyncio.Future[ResultT], settle: Callable[[], None]) -> None:
    """Settle a future, unless its caller has given up waiting."""
    if not future.done():
        settle()
