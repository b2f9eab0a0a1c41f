"""Messages between the process that answers questions and those who ask: a length, and a pickle."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.domain.ids import OrgId

_LENGTH_BYTES = 4
MOST_BYTES = 1 << 30
# What the system allows for a socket's path, and a little less.
_LONGEST_PATH = 100
_NAME = "questions.socket"
# Written when no file had bytes any more of what was deleted about people.
KEPT_UP = "kept_up"
# Folders for files that are answers, and for what does not fit into memory. A process begins without them.
FILES, SPILLS = "files", "spills"
# The file that the one process of a folder has locked.
LOCK = "process.lock"
# Seconds between two signs of life to whoever is connected. A process without them has been stopped.
SIGN_EVERY = 1.0


def folder_in(data_dir: Path) -> Path:
    """The folder of the process, with the files of columns, in the service's folder."""
    return data_dir / "analytics"


def org_ids_in(folder: Path) -> list[OrgId]:
    """The organizations of which the folder has a file, or one that was moved aside, in their order."""
    names = {path.name.partition(".")[0] for path in folder.glob("*.duckdb*")}
    return [OrgId(name) for name in sorted(names)]


@dataclass(frozen=True, slots=True)
class Start:
    """What the process reads when it starts: the database, its folder, and its bounds."""

    uri: str
    name: str
    folder: str
    memory_mb: int
    threads: int
    seconds: float


class Socket:
    """Where the process of a folder listens: in the folder, or where its path is too long for that, in a
    private one of the system's, whose path a file in the folder has."""

    def __init__(self, folder: Path) -> None:
        self._in_folder = folder.resolve() / _NAME
        self._note = folder / f"{_NAME}.path"

    @property
    def path(self) -> str:
        """Where to connect. Raises OSError where there is no such process."""
        return str(self._in_folder) if self._fits else self._note.read_text()

    @property
    def _fits(self) -> bool:
        return len(os.fsencode(self._in_folder)) <= _LONGEST_PATH

    @contextlib.contextmanager
    def bound(self) -> Iterator[socket.socket]:
        """A socket that is bound there for the block."""
        with contextlib.ExitStack() as stack:
            path = self._in_folder
            if not self._fits:
                path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="waylink-"))) / _NAME
            path.unlink(missing_ok=True)
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(path))
            path.chmod(0o600)
            stack.callback(lambda: path.unlink(missing_ok=True))
            if not self._fits:
                self._note.write_text(str(path))
                stack.callback(lambda: self._note.unlink(missing_ok=True))
            listening.listen(100)
            yield listening


async def write_message(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    """Send a message. Raises ConnectionError."""
    packed = pickle.dumps(message)
    writer.write(len(packed).to_bytes(_LENGTH_BYTES) + packed)
    await writer.drain()


async def read_message(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message; None at the end. Raises ConnectionError, and IncompleteReadError in the middle."""
    try:
        length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    message: dict[str, Any] = pickle.loads(await reader.readexactly(length))  # noqa: S301 - our own, see above
    return message
