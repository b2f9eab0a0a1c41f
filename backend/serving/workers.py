"""The service's worker processes, which share one port.

They are started and stopped together; a worker that dies, hangs or was stopped from outside is replaced.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.concurrency.retrying import Retries
from backend.domain.errors import OperatorError
from backend.operations.logs import configure_logs
from backend.operations.shared_counts import SHARED_FOLDER
from backend.serving import heartbeat
from backend.serving.heartbeat import TICK, Silence, WorkerNews, pause_of, stuck_at
from backend.serving.job import END_SIGNALS, Job, MakeApp, begin, load_application
from backend.serving.listener import NotStarted, bind
from backend.settings import Settings

# Seconds before a worker that died is replaced, so that one that dies at once does not keep the machine busy.
PAUSE = 1.0
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

    `on_ready` is called once all of them answer. `make_app` creates the application in each process, by
    default `backend.app`. Raises NotStarted if a worker does not start, and WorkerFailed if one does not stop
    cleanly.
    """
    configure_logs(settings.log_level)
    listener = bind(settings.host, settings.port, "WAYLINK_PORT")
    with TemporaryDirectory(prefix="waylink-") as folder:
        os.environ[SHARED_FOLDER] = folder  # read as the application is loaded
        if _FORKS:
            load_application(settings)
        _Supervisor(Job(settings, make_app, listener, Path(folder))).run(on_ready)


class _Worker:
    """A worker process, and the pipe on which it sends its news."""

    def __init__(self, job: Job, others: Iterable[_Worker]) -> None:
        """Start the process. Raises OSError where the system has no room for one."""
        self.news, theirs = _processes.Pipe()
        # A worker sees the supervisor's end by its pipe, so no other worker may have the other end of it.
        inherited = [self.news, *(other.news for other in others)] if _FORKS else []
        self.process: BaseProcess = _processes.Process(target=begin, args=(job, theirs, inherited))
        try:
            with _blocked_signals():
                self.process.start()
        except OSError:
            self.news.close()
            raise
        finally:
            theirs.close()
        self.silence = Silence(self.process, job.settings.stall_seconds)
        self.is_ready = False
        # Why it can't start. It may have told before that it is ready: all workers share the port, so
        # another one may have answered.
        self.reason = ""

    def listen(self) -> None:
        """Read the news that the worker has sent."""
        with contextlib.suppress(EOFError, ConnectionResetError):
            while self.news.poll():
                news: WorkerNews | str = self.news.recv()
                self.silence.end_by(news)
                self.is_ready = self.is_ready or news is WorkerNews.READY
                self.reason = news if isinstance(news, str) else self.reason


def _remove_gauges(pid: int | None) -> None:
    """Leave the gauges of a process that has ended out of the metrics."""
    # Imported only after the folder is named, or it would count for one process alone.
    import_module("prometheus_client.multiprocess").mark_process_dead(pid)


@contextlib.contextmanager
def _blocked_signals() -> Iterator[None]:
    """Signals wait until the end of the block, or a new process would handle them as the supervisor does."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
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
        # Between two tries to start a worker in place of one that ended: each failed fork may take memory.
        self._retries = Retries(first=PAUSE, longest=30.0, jitter=0.0)
        self._start_at = 0.0
        self._looked_at = time.monotonic()

    def run(self, on_ready: Callable[[], None]) -> None:
        for number in END_SIGNALS:
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
        """Start the workers, and return once all of them answer. Raises NotStarted if one ends before."""
        for _ in range(self._job.settings.workers):
            self._start_one()
        while not self._stopping and not all(worker.is_ready for worker in self._workers):
            for worker in self._watch(self._workers):
                if not self._stopping:
                    raise NotStarted(worker.reason or "A worker of the service ended while it started.")

    def _start_one(self) -> None:
        if not self._stopping:
            self._workers.append(_Worker(self._job, self._workers))
        if self._stopping:  # the signal came while it started, when its handler did not know it yet
            self._stop()

    def _replace_dead(self) -> None:
        """Wait a while for a worker to end.

        Start another one in its place after a pause, unless the service is stopping.
        """
        for worker in self._watch(self._workers):
            if self._stopping:
                return
            worker.process.join(PAUSE)  # its end of the sentinel closes a moment before it has an exit code
            self._tell_end(worker)
            self._workers.remove(worker)
            _remove_gauges(worker.process.pid)
            self._start_at = max(self._start_at, time.monotonic() + PAUSE)
        if len(self._workers) < self._job.settings.workers and time.monotonic() >= self._start_at:
            self._start_missing()

    def _start_missing(self) -> None:
        """Start a worker in place of one that has ended; if that fails, later: the others go on."""
        try:
            self._start_one()
            self._retries.succeed()
        except OSError as error:
            self._start_at = time.monotonic() + self._retries.fail()
            _logger.error("No worker can be started in place of one that ended: %s", error)

    def _watch(self, workers: Sequence[_Worker]) -> list[_Worker]:
        """Wait a while for one of them to end, and end those that have been silent for too long.

        Returns the workers that have ended.
        """
        starting = [worker.news for worker in workers if not worker.is_ready]
        # Not for ever: a worker that was told to stop may not end, and a signal does not end the wait.
        pause = pause_of(self._job.settings.stall_seconds)
        if len(workers) < self._job.settings.workers:
            pause = min(pause, PAUSE)
        ended = wait([*(worker.process.sentinel for worker in workers), *starting], timeout=pause)
        # While the supervisor itself stood still, as in a machine that was suspended, it could hear nobody.
        before, self._looked_at = self._looked_at, time.monotonic()
        for worker in workers:
            worker.listen()
            worker.silence.add(min(self._looked_at - before, TICK))
        return [worker for worker in workers if worker.process.sentinel in ended]

    def _tell_end(self, worker: _Worker) -> None:
        pid, silence = worker.process.pid, worker.silence
        if silence.ended_after:
            stack = stuck_at(self._job.stack_of(pid))
            place = f", at {stack[-1]}" if stack else ""
            text = "Worker %s was ended: %s for %g seconds%s"
            _logger.error(text, pid, silence.reason, silence.ended_after, place, extra={"trace": stack})
        elif worker.reason:
            _logger.error("Worker %s could not start: %s", pid, worker.reason)
        else:
            _logger.error("Worker %s ended with exit code %s", pid, worker.process.exitcode)

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
        deadline = time.monotonic() + settings.drain_seconds + settings.graceful_seconds
        deadline += heartbeat.LAST_SECONDS
        running = self._workers
        while running and time.monotonic() < deadline:
            self._watch(running)
            running = [worker for worker in running if worker.process.is_alive()]
        failed = []
        for worker in self._workers:
            worker.process.kill()  # unless it has ended
            worker.process.join()
            # One that was told before it listened to signals had accepted nothing.
            if worker.process.exitcode not in {0, -signal.SIGTERM}:
                self._tell_end(worker)
                failed.append(f"{worker.process.pid} (exit code {worker.process.exitcode})")
        return failed
