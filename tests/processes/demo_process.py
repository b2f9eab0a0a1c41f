"""`make run` as a person starts it: `python -m demo_site`, and what it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.processes.service_process import environment_of, free_port


@dataclass(frozen=True, slots=True)
class DemoProcess:
    """A running demo: its process, its settings, and the text that it printed when it was ready."""

    process: subprocess.Popen[str]
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
    data_dir: Path, options: Sequence[str] = ("--without-history",), **settings: str
) -> Iterator[DemoProcess]:
    """The service and the demo site for the length of the block, on free ports."""
    usual = {
        "WAYLINK_PORT": str(free_port()),
        "WAYLINK_DEMO_PORT": str(free_port()),
        "WAYLINK_DRAIN_SECONDS": "0.05",
    }
    environment = environment_of(data_dir, **(usual | settings))
    command = [sys.executable, "-m", "demo_site", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield DemoProcess(process, environment, _printed_until_ready(process))
        finally:
            process.terminate()
            process.wait(timeout=60)


def _printed_until_ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if line.startswith("Ctrl-C stops"):
            return printed
    raise AssertionError(f"the demo ended before it was ready: {printed}")
