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


class StartedProcess(Protocol):
    """A process that was started."""

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""


def start_process(start: Start) -> StartedProcess:
    """Start the process, which outlives whoever starts it."""
    # Not by the event loop, which the process may outlive.
    process = subprocess.Popen(
        [sys.executable, "-m", "backend.storage.columns.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(target=process.wait, name="end of analytics", daemon=True).start()
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        # Not as an argument: others on the machine could read the password.
        stdin.write(json.dumps(asdict(start)).encode() + b"\n")
    return process
