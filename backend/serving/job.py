"""What a worker process is given, and how it begins."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from backend.settings import Settings

MakeApp = Callable[[Settings], Any]


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


def work(job: Job, news: Connection) -> None:
    """The main function of a worker process. Only workers import the application, which takes a while."""
    gc.disable()  # of what is imported nothing becomes garbage
    worker = import_module("backend.serving.worker")
    gc.freeze()
    gc.enable()
    worker.run_job(job, news)
