"""The examples as processes, each with what it has stored."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdk_build.node import install_packages, node_environment
from tests.processes.proxy_process import server_process
from tests.processes.service_process import free_port

FOLDER = Path(__file__).parents[2] / "webhook_receiver"


@dataclass(frozen=True, slots=True)
class ExampleReceiver:
    """One of the examples: its name, the folder that it stores in, and its port."""

    name: str
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Where it takes webhooks."""
        return f"http://127.0.0.1:{self.port}/waylink"

    @property
    def file(self) -> Path:
        """What it stores in."""
        return self.folder / self.name

    @property
    def events(self) -> list[Any]:
        """What it has stored, in the order in which it came."""
        if not self.file.exists():
            return []
        if self.name == "node":
            *whole, _ = self.file.read_text().split("\n")  # the last line may be being written
            return [json.loads(line) for line in whole]
        with closing(sqlite3.connect(self.file)) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchall():
                return []  # the first request is being stored
            rows = database.execute("SELECT event FROM events ORDER BY rowid")
            return [json.loads(text) for (text,) in rows]

    @contextmanager
    def running(self, secret: str) -> Iterator[subprocess.Popen[bytes]]:
        """It runs for the length of the block, with this secret."""
        variables = {"WEBHOOK_SECRET": secret, "PORT": str(self.port), "PATH": node_environment()["PATH"]}
        stores = {"WEBHOOK_DATABASE": str(self.file), "WEBHOOK_FILE": str(self.file)}
        with server_process(
            self._command(), f"http://127.0.0.1:{self.port}", **variables, **stores
        ) as process:
            yield process

    def _command(self) -> Sequence[str]:
        if self.name == "node":
            install_packages(FOLDER)
            return ["node", str(FOLDER / "receiver.mjs")]
        return [
            sys.executable, "-m", "flask", "--app", "webhook_receiver.receiver",
            "run", "--port", str(self.port),
        ]  # fmt: skip


def example_receiver(name: str, folder: Path) -> ExampleReceiver:
    """The example in `python` or `node`, on a free port."""
    return ExampleReceiver(name, folder, free_port())
