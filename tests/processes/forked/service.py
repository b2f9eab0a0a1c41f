"""Processes of `waylink` that cost a tenth: forked from one that has imported the service already.

What is forked does all else as if it had been started, but that it hashes passwords quickly, as the tests'
process does. Tests of the start itself start one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

from backend.cli import main
from tests.processes.idle import IDLE_SELDOM, idle_seldom

# A process has one such server: who forks something else takes this one too.
FORK_SERVER = multiprocessing.get_context("forkserver")
FORK_SERVER.set_forkserver_preload(["tests.processes.forked.imported_service"])
ROOT = Path(__file__).parents[3]


class ForkedProcess:
    """A forked process, with what subprocess.Popen has."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Its id."""
        assert self._process.pid
        return self._process.pid

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("waylink serve", timeout or 0.0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send the signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Have it stop in order."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def forked(
    environment: dict[str, str], log: Path, module: str | None = None, arguments: Sequence[str] = ()
) -> Iterator[tuple[ForkedProcess, TextIO]]:
    """A service with this environment, and what it prints; it writes stderr to `log`.

    `module` is one to run instead, with these arguments, as `python -m` does.
    """
    reader, writer = FORK_SERVER.Pipe(duplex=False)
    process = _started(_serve, environment, writer, log, module, arguments)
    writer.close()
    forked = ForkedProcess(process)
    with reader, os.fdopen(os.dup(reader.fileno())) as printed:
        try:
            yield forked, printed
        finally:
            forked.wait()


@contextmanager
def forked_command(
    environment: dict[str, str], log: Path, arguments: Sequence[str]
) -> Iterator[ForkedProcess]:
    """`waylink ARGUMENTS` with this environment, until the end of the block; it writes stderr to `log`."""
    process = _started(_run_command, environment, log, arguments)
    forked = ForkedProcess(process)
    try:
        yield forked
    finally:
        forked.kill()
        forked.wait()


def _started(run: Callable[..., None], *arguments: object) -> BaseProcess:
    """A process that runs this.

    Its server finds what it imports only from the root of the repository. Elsewhere it would import nothing,
    say nothing of that, and leave the imports to each process: a test may have gone to a folder of its own.
    """
    with contextlib.chdir(ROOT):
        forkserver.ensure_running()
    process = FORK_SERVER.Process(target=run, args=arguments)
    process.start()
    return process


def _run_command(environment: dict[str, str], log: Path, arguments: Sequence[str]) -> None:
    _begin(environment, log)
    main(arguments, prog_name="waylink")


def _begin(environment: dict[str, str], log: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with log.open("a") as written:
        os.dup2(written.fileno(), 2)
    if IDLE_SELDOM in environment:
        idle_seldom()


def _serve(
    environment: dict[str, str],
    printed: Connection,
    log: Path,
    module: str | None,
    arguments: Sequence[str],
) -> None:
    _begin(environment, log)
    os.dup2(printed.fileno(), 1)
    printed.close()
    if module:
        sys.argv[1:] = arguments
        runpy.run_module(module, run_name="__main__")
    else:
        main(["serve", "--json"], prog_name="waylink")
