"""A `waylink` command whose process has a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess

from backend.cli import main
from tests.processes.forked.service import FORK_SERVER


@contextmanager
def on_terminal(
    environment: Mapping[str, str], arguments: Sequence[str]
) -> Iterator[tuple[BaseProcess, int]]:
    """`waylink ARGUMENTS`, forked, and the end of its terminal at which somebody types and reads."""
    typed, terminal = os.openpty()
    process = FORK_SERVER.Process(target=_run, args=(os.ttyname(terminal), environment, arguments))
    process.start()
    try:
        yield process, typed
    finally:
        process.kill()
        process.join()
        os.close(terminal)
        os.close(typed)


def _run(terminal: str, environment: Mapping[str, str], arguments: Sequence[str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.login_tty(os.open(terminal, os.O_RDWR))
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - until the process ends
    main(arguments, prog_name="waylink")
