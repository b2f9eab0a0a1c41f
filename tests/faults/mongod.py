"""The MongoDB server that a running service has started for itself."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def mongod_of(data_dir: Path) -> int:
    """The server's process."""
    return int(json.loads((data_dir / "mongodb" / "server.json").read_text())["pid"])


@contextmanager
def stopped_mongod(data_dir: Path) -> Iterator[None]:
    """The server neither answers nor closes connections for the length of the block."""
    mongod = mongod_of(data_dir)
    os.kill(mongod, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(mongod, signal.SIGCONT)
