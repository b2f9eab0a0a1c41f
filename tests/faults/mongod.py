"""The MongoDB server that a running service has started for itself."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

from tests.processes.suspended import suspended


def mongod_of(data_dir: Path) -> int:
    """The server's process."""
    return int(json.loads((data_dir / "mongodb" / "server.json").read_text())["pid"])


def stopped_mongod(data_dir: Path) -> AbstractContextManager[None]:
    """The server neither answers nor closes connections for the length of the block."""
    return suspended(mongod_of(data_dir))
