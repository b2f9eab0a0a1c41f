"""The job of a worker process, and how the process begins."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from backend.settings import Settings
from backend.system.interpreter import set_up_interpreter

MakeApp = Callable[[Settings], Any]

# The signals that end the service. The supervisor handles them and ends its workers.
END_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WORKER = "backend.serving.worker"  # only where it is to run: it imports the application


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker process needs to run. `folder` is shared by all and exists while the service runs.

    `make_app` creates the application; None stands for `backend.app`.
    """

    settings: Settings
    make_app: MakeApp | None
    listener: socket.socket
    folder: Path

    def stack_of(self, pid: int | None) -> Path:
        """The file in which the worker with this process id records where it was stuck."""
        return self.folder / f"stack-{pid}"


def begin(job: Job, news: Connection, inherited: Iterable[Connection]) -> None:
    """The main function of a worker process. It closes the pipes that a fork `inherited`.

    Until it handles signals itself, it ignores Ctrl-C, which the supervisor passes on to it.
    """
    for connection in inherited:
        connection.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
    load_application(job.settings)
    import_module(_WORKER).run_job(job, news)


def load_application(settings: Settings) -> None:
    """Import the application, which takes a while. The supervisor does it for workers that are forks."""
    gc.disable()  # nothing that is imported becomes garbage
    import_module(_WORKER)
    import_module("backend.app").prepare(settings)
    set_up_interpreter()
    gc.enable()
