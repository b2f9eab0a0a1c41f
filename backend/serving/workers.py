"""Several worker processes on one port: started, replaced when one dies, and stopped together."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryDirectory

from prometheus_client.multiprocess import mark_process_dead

from backend.app import create_app
from backend.operations.logs import configure_logs
from backend.operations.metrics import SHARED_FOLDER
from backend.serving.server import NotStarted, Site, bind, run, serve_sites
from backend.settings import Settings

# Seconds before a worker that died is replaced, so that one that dies at once does not keep the machine busy.
PAUSE = 1.0
_spawn = multiprocessing.get_context("spawn")
_logger = logging.getLogger(__name__)


class WorkerFailed(RuntimeError):
    """A worker did not stop cleanly; the message says which."""


def run_workers(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Serve `backend.app` by as many processes as the settings say, until SIGINT or SIGTERM.

    `on_ready` runs once all of them answer. Raises NotStarted where one does not start, and WorkerFailed
    where one does not stop cleanly.
    """
    configure_logs(settings.log_level)
    listener = bind(settings.host, settings.port, "WAYLINK_PORT")
    with TemporaryDirectory(prefix="waylink-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder  # read by the workers as they start
        _Supervisor(settings, listener).run(on_ready)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker process, and the pipe on which it says that it is ready, or why it can't start."""

    process: SpawnProcess
    news: Connection

    @classmethod
    def start(cls, settings: Settings, listener: socket.socket) -> _Worker:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=_work, args=(settings, listener, theirs))
        process.start()
        theirs.close()
        return cls(process, ours)

    def wait_until_ready(self) -> None:
        """Return once it answers; raises NotStarted where it ends before."""
        try:
            reason = self.news.recv()
        except EOFError:
            raise NotStarted("A worker of the service ended while it started.") from None
        if reason:
            raise NotStarted(reason)


class _Supervisor:
    """Keeps the workers running until a signal; then lets them finish what they accepted."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._workers: list[_Worker] = []
        self._stopping = False

    def run(self, on_ready: Callable[[], None]) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
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
        for _ in range(self._settings.workers):
            self._start_one()
        for worker in self._workers:
            try:
                worker.wait_until_ready()
            except NotStarted:
                if not self._stopping:
                    raise

    def _start_one(self) -> None:
        if not self._stopping:
            self._workers.append(_Worker.start(self._settings, self._listener))
        if self._stopping:  # told while it started: the signal's handler did not know it yet
            self._stop()

    def _replace_dead(self) -> None:
        """Wait until a worker ends; unless all are to stop, start another one in its place."""
        ended = wait([worker.process.sentinel for worker in self._workers])
        if self._stopping:
            return
        for worker in [each for each in self._workers if each.process.sentinel in ended]:
            pid, code = worker.process.pid, worker.process.exitcode
            _logger.error("Worker %s ended with exit code %s; another one takes its place", pid, code)
            self._workers.remove(worker)
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
            time.sleep(PAUSE)
            self._start_one()

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._listener.close()  # the workers have it; the port closes with the last of them
        for worker in self._workers:
            worker.process.terminate()

    def _join_all(self) -> list[str]:
        """Wait until all have ended; the ids and exit codes of those that did not end cleanly."""
        for worker in self._workers:
            worker.process.join()
        clean = (0, -signal.SIGTERM)  # one that was told before it listened to signals had accepted nothing
        ends = [(worker.process.pid, worker.process.exitcode) for worker in self._workers]
        return [f"{pid} (exit code {code})" for pid, code in ends if code not in clean]


def _work(settings: Settings, listener: socket.socket, news: Connection) -> None:
    """What a worker process runs."""
    configure_logs(settings.log_level)
    try:
        run(_serve(settings, listener, news))
    except NotStarted as error:
        news.send(str(error))
        sys.exit(1)


async def _serve(settings: Settings, listener: socket.socket, news: Connection) -> None:
    stop = asyncio.Event()
    # The supervisor sends nothing: the pipe becomes readable when it is gone, and then nobody else stops us.
    asyncio.get_running_loop().add_reader(news.fileno(), stop.set)
    site = Site(create_app(settings), listener)
    await serve_sites([site], settings, lambda: news.send(""), stop)
