"""`make run`: `python -m demo_site`, forked as the service is, or started; and what it prints."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from backend.operations.shared_counts import SHARED_FOLDER
from tests.processes.forked.service import ForkedProcess, forked
from tests.processes.service_process import environment_of, free_port, started


@dataclass(frozen=True, slots=True)
class DemoProcess:
    """A running demo: its process, its settings, and the text that it printed when it was ready."""

    process: subprocess.Popen[str] | ForkedProcess
    environment: dict[str, str]
    printed: str

    def value(self, label: str) -> str:
        """What was printed behind a label."""
        found = re.search(rf"^  {re.escape(label)}\s+(\S+)$", self.printed, re.MULTILINE)
        assert found, f"{label} is not in: {self.printed}"
        return found[1]

    @property
    def curl_line(self) -> str:
        """The printed command that makes a link."""
        found = re.search(r"^  curl .*?(?=\n\n)", self.printed, re.MULTILINE | re.DOTALL)
        assert found, self.printed
        return found[0]


@contextmanager
def demo_process(
    data_dir: Path,
    options: Sequence[str] = ("--without-history",),
    *,
    command: Sequence[str] | None = None,
    **settings: str,
) -> Iterator[DemoProcess]:
    """The service and the demo site for the length of the block, on free ports.

    They are forked, unless there is a command to start.
    """
    usual = {
        "WAYLINK_PORT": str(free_port()),
        "WAYLINK_DEMO_PORT": str(free_port()),
        "WAYLINK_DRAIN_SECONDS": "0.05",
    }
    environment = environment_of(data_dir, **(usual | settings))
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir / "log"
    starting: AbstractContextManager[tuple[subprocess.Popen[str] | ForkedProcess, IO[str]]]
    if command:
        starting = started([*command, *options], environment, log)
    else:
        # What is forked was imported to count for several processes, and needs a folder for that.
        counts = data_dir / "counts"
        counts.mkdir(exist_ok=True)
        starting = forked(environment | {SHARED_FOLDER: str(counts)}, log, "demo_site", options)
    with starting as (process, printed):
        try:
            yield DemoProcess(process, environment, _until_ready(printed))
        finally:
            process.terminate()
            process.wait(timeout=60)


def _until_ready(printed: IO[str]) -> str:
    text = ""
    for line in printed:
        text += line
        if line.startswith("Ctrl-C stops"):
            return text
    raise AssertionError(f"the demo ended before it was ready: {text}")
