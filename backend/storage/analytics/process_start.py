"""Starts the process that has organizations' facts in columns (columns/process.py)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Protocol

from backend.storage.analytics.messages import Start

MODULE = "backend.storage.columns.process"


class StartedProcess(Protocol):
    """A process that was started."""

    @property
    def complaint(self) -> str:
        """Why it ended at its start; empty while it runs, or where it did not say."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""


class _ListenedTo:
    """A process whose words are kept."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.complaint = ""
        self._process = process
        self._code: int | None = None
        threading.Thread(target=self._listen, name="end of analytics", daemon=True).start()

    def poll(self) -> int | None:
        """Its exit code; None while it runs, or its last words are not read."""
        return self._code

    def _listen(self) -> None:
        assert self._process.stdout
        with self._process.stdout as said:
            self.complaint = said.read().decode(errors="replace").strip()
        self._code = self._process.wait()


def start_process(start: Start) -> StartedProcess:
    """Start the process, which outlives whoever starts it. Raises OSError where the machine has no room."""
    # Not by the event loop, which the process may outlive. -P: with the code of this one, and not
    # with what lies in the folder in which somebody runs a command.
    process = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-P", "-m", MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    started = _ListenedTo(process)
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        # Not as an argument: others on the machine could read the password.
        stdin.write(json.dumps(asdict(start)).encode() + b"\n")
    return started
