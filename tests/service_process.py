"""`waylink` as its owner runs it: a process on a free port, with settings from the environment."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAYLINK = (sys.executable, "-m", "backend.cli")


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A running service: its process, its settings, and the address of its API."""

    process: subprocess.Popen[str]
    environment: dict[str, str]
    base_url: str

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run a `waylink` command with --json beside the service, and give what it printed."""
        return run_command(*arguments, environment=self.environment)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, and give the exit code once the process has ended."""
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextmanager
def service_process(data_dir: Path, **settings: str) -> Iterator[ServiceProcess]:
    """A service for the length of the block; `settings` are WAYLINK_ variables."""
    environment = environment_of(data_dir, **({"WAYLINK_PORT": str(free_port())} | settings))
    with subprocess.Popen(
        [*WAYLINK, "serve", "--json"], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready, "the service ended before it was ready"
        try:
            yield ServiceProcess(process, environment, json.loads(ready)["base_url"])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=60)


def run_command(*arguments: str, environment: dict[str, str]) -> dict[str, Any]:
    """What `waylink ARGUMENTS --json` printed; it must succeed."""
    done = subprocess.run(
        [*WAYLINK, *arguments, "--json"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def environment_of(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of a `waylink` process that keeps its data in `data_dir`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("WAYLINK_")}
    return inherited | {"WAYLINK_DATA_DIR": str(data_dir)} | settings


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
