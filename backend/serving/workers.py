"""The service's worker processes, which share one port.

They are started and stopped together; a worker that dies or hangs is replaced.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.domain.errors import OperatorError
from backend.operations.logs import configure_logs
from backend.operations.shared_counts import SHARED_FOLDER
from backend.serving.job import TOLD_BY_SUPERVISOR, Job, MakeApp, begin, load_application
from backend.serving.listener import NotStarted, bind
from backend.serving.watchdog import where_it_stood
from backend.settings import Settings

# Seconds before a worker that died is replaced, so that one that dies at once does not keep the machine busy.
PAUSE = 1.0
# Seconds that a worker has to end after its last answer: for the last clicks, and for its MongoDB.
LAST_SECONDS = 30.0
# Forked workers share the memory of what was imported, and the next one answers at once. Libraries of macOS
# don't outlive a fork.
_FORKS = sys.platform == "linux"
_processes: multiprocessing.context.ForkContext | multiprocessing.context.SpawnContext = (
    multiprocessing.get_context("fork") if _FORKS else multiprocessing.get_context("spawn")
)
_logger = logging.getLogger(__name__)


class WorkerFailed(OperatorError):
    """A worker did not stop cleanly. The message says which one."""


def run_workers(settings: Settings, on_ready: Callable[[], None], make_app: MakeApp | None = None) -> None:
    """Serve `backend.app` with as many processes as the settings say, until SIGINT or SIGTERM.

    `on_ready` is called once all of them answer. `make_app` creates the application in each process,
    by default `backend.app`. Raises
    NotStarted if a worker does not start, and WorkerFailed if one does not stop cleanly.
    """
    configure_logs(settings.log_level)
    listener = bind(settings.host, settings.port, "WAYLINK_PORT")
    with TemporaryDirectory(prefix="waylink-") as folder:
        os.environ[SHARED_FOLDER] = folder  # read as the application is loaded
        if _FORKS:
            load_application(settings)
        _Supervisor(Job(settings, make_app, listener, Path(folder))).run(on_ready)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker process, and the pipe on which it reports that it is ready, or why it can't start."""

    process: BaseProcess
    news: Connection

    @classmethod
    def start(cls, job: Job, others: Iterable[_Worker]) -> _Worker:
        ours, theirs = _processes.Pipe()
        # A worker sees the supervisor's end by its pipe, so no other worker may have the other end of it.
        inherited = [ours, *(each.news for each in others)] if _FORKS else []
        process = _processes.Process(target=begin, args=(job, theirs, inherited))
        with _unheard_signals():
            process.start()
        theirs.close()
        return cls(process, ours)

    def wait_until_ready(self) -> None:
        """Return once the worker answers. Raises NotStarted if it ends before."""
        try:
            reason = self.news.recv()
        except EOFError:
            raise NotStarted("A worker of the service ended while it started.") from None
        if reason:
            raise NotStarted(reason)

    def why_not_started(self) -> str | None:
        """The reason that an ended worker gave for not starting; None if it gave none.

        It may have reported before that it is ready: all workers share the port, so another one may have
        answered.
        """
        with contextlib.suppress(EOFError):
            while self.news.poll():
                if reason := self.news.recv():
                    return str(reason)
        return None


def _no_longer_counts(pid: int | None) -> None:
    """What a process that has ended had in hand is left out of the metrics."""
    # Not imported before the folder is named, or it would count for one process alone.
    import_module("prometheus_client.multiprocess").mark_process_dead(pid)


@contextlib.contextmanager
def _unheard_signals() -> Iterator[None]:
    """Signals wait until the end of the block, or a new process would handle them as the supervisor does."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TOLD_BY_SUPERVISOR)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Supervisor:
    """Keeps the workers running until a signal, then lets them finish what they have accepted."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._workers: list[_Worker] = []
        self._stopping = False

    def run(self, on_ready: Callable[[], None]) -> None:
        for number in TOLD_BY_SUPERVISOR:
            signal.signal(number, self._stop)
        try:
            self._start_all()
            if not self._stopping:
                on_ready()
            while not self._stopping:
                self._replace_dead()
        except BaseException:
            self._stop()
            raise
        finally:
            failed = self._join_all()
        if failed:
            raise WorkerFailed(f"Workers that did not stop cleanly: {', '.join(failed)}.")

    def _start_all(self) -> None:
        for _ in range(self._job.settings.workers):
            self._start_one()
        for worker in self._workers:
            try:
                worker.wait_until_ready()
            except NotStarted:
                if not self._stopping:
                    raise

    def _start_one(self) -> None:
        if not self._stopping:
            self._workers.append(_Worker.start(self._job, self._workers))
        if self._stopping:  # told while it started: the signal's handler did not know it yet
            self._stop()

    def _replace_dead(self) -> None:
        """Wait a while for a worker to end.

        Start another one in its place, unless the service is stopping.
        """
        # Not for ever: a worker that was told to stop may not end, and a signal does not end the wait.
        ended = wait([worker.process.sentinel for worker in self._workers], timeout=PAUSE)
        if self._stopping:
            return
        for worker in [each for each in self._workers if each.process.sentinel in ended]:
            worker.process.join(PAUSE)  # its end of the sentinel closes a moment before it has an exit code
            self._tell_end(worker)
            self._workers.remove(worker)
            _no_longer_counts(worker.process.pid)
            time.sleep(PAUSE)
            self._start_one()

    def _tell_end(self, worker: _Worker) -> None:
        if self._tell_hang(worker):
            return
        pid, code = worker.process.pid, worker.process.exitcode
        if reason := worker.why_not_started():
            _logger.error("Worker %s could not start: %s", pid, reason)
        else:
            _logger.error("Worker %s ended with exit code %s", pid, code)

    def _tell_hang(self, worker: _Worker) -> bool:
        """If this worker ended because it was stuck, log where. Returns whether that was so."""
        pid, seconds = worker.process.pid, self._job.settings.stall_seconds
        stack = where_it_stood(self._job.stack_of(pid))
        if stack:
            text = "Worker %s was ended: its event loop had not turned for %g seconds, at %s"
            _logger.error(text, pid, seconds, stack[-1], extra={"trace": stack})
        return bool(stack)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._job.listener.close()  # the workers have it; the port closes with the last of them
        for worker in self._workers:
            worker.process.terminate()

    def _join_all(self) -> list[str]:
        """Wait until all workers have ended.

        Returns the ids and exit codes of those that did not end cleanly.
        """
        settings = self._job.settings
        deadline = time.monotonic() + settings.drain_seconds + settings.graceful_seconds + LAST_SECONDS
        failed = []
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()
            # One that was told before it listened to signals had accepted nothing.
            if worker.process.exitcode not in {0, -signal.SIGTERM}:
                self._tell_hang(worker)
                failed.append(f"{worker.process.pid} (exit code {worker.process.exitcode})")
        return failed
