"""A file as a target: lines are added, and the cursor is kept in a small file beside it.

Lines reach the disk before the cursor behind them. The next start cuts off lines behind the stored cursor,
since they were not finished. So each event is in the file exactly once.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor, InvalidCursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId
from backend.follow.event_lines import LineForm, Lines
from backend.follow.locked_file import locked_file
from backend.follow.target import FollowedFeed, TakenBack, TargetMismatch, begin_another, check_same
from backend.system.whole_file import whole_or_nothing


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """The content of the small file: the size of the finished lines in bytes, and the cursor behind them."""

    org_id: OrgId
    types: list[str] | None
    form: str
    cursor: str
    size: int


class FileTarget:
    """Adds lines to the file at `path`; `path` with `.cursor` behind it keeps the cursor."""

    needs: Set[EventType] = frozenset()

    def __init__(self, path: Path, form: LineForm) -> None:
        self._path = path
        self._checkpoint_path = path.with_name(f"{path.name}.cursor")
        self._form = form
        self._lines = Lines(form)
        self._descriptor: int | None = None
        self._checkpoint = _Checkpoint(OrgId(""), None, form.value, "", 0)

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Lock the file, cut off unfinished lines, and return the stored cursor.

        A file that was moved away is begun again, behind the last event of the moved one.
        """
        with self._disk_errors():
            self._descriptor = locked_file(self._path)
            size = os.fstat(self._descriptor).st_size
            self._checkpoint = self._read_checkpoint(size) or self._new_checkpoint(followed)
            check_same(self._checkpoint.org_id, self._checkpoint.types, followed, str(self._path))
            self._resume(size)
        return Cursor.parse(self._checkpoint.cursor)

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Add a line for each event, and store the cursor once the lines are on disk."""
        if str(cursor) == self._checkpoint.cursor:
            return
        assert self._descriptor is not None
        head = "" if self._checkpoint.size or not events else self._lines.head()
        content = f"{head}{self._lines.lines(events)}".encode()
        with self._disk_errors():
            _write_all(self._descriptor, content)
            os.fsync(self._descriptor)
            self._store_checkpoint(str(cursor), self._checkpoint.size + len(content))

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """None: lines do not say at which place of the feed they were."""
        return {}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Raise FeedLost: readers may have read the lines already."""
        raise begin_another(str(self._path), cursor)

    async def close(self) -> None:
        """Let another follower have the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _new_checkpoint(self, followed: FollowedFeed) -> _Checkpoint:
        """Store the checkpoint of a new file before any line: a file of lines without one is not ours."""
        self._checkpoint = _Checkpoint(followed.org_id, followed.named_types, self._form.value, "", 0)
        self._store_checkpoint(str(followed.after), 0)
        return self._checkpoint

    def _read_checkpoint(self, size: int) -> _Checkpoint | None:
        """The stored checkpoint; None for a new file. Raises TargetMismatch."""
        try:
            checkpoint = _Checkpoint(**json.loads(self._checkpoint_path.read_text(encoding="utf-8")))
            Cursor.parse(checkpoint.cursor)
        except FileNotFoundError:
            if size:
                raise TargetMismatch(
                    f"{self._path} is there, without {self._checkpoint_path.name} beside it, which would "
                    "say where to go on. Name another file with --to, or move this one away."
                ) from None
            return None
        except (ValueError, TypeError, InvalidCursor):
            raise TargetMismatch(f"{self._checkpoint_path} is damaged. Begin another file.") from None
        if checkpoint.form != self._form:
            raise TargetMismatch(f"{self._path} was begun with --into {checkpoint.form}. Go on with that.")
        return checkpoint

    def _resume(self, size: int) -> None:
        """Go on behind the last finished line."""
        assert self._descriptor is not None
        if size == 0 and self._checkpoint.size:
            self._store_checkpoint(self._checkpoint.cursor, 0)
        if size and size < self._checkpoint.size:
            raise TargetMismatch(
                f"{self._path} is shorter than what was written into it: {size:,} of "
                f"{self._checkpoint.size:,} bytes. Put it back, or move it away to go on in a new file."
            )
        os.ftruncate(self._descriptor, self._checkpoint.size)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if self._checkpoint.size:
            with self._path.open(encoding="utf-8") as begun:
                self._lines = Lines(self._form, begun.readline())

    def _store_checkpoint(self, cursor: str, size: int) -> None:
        checkpoint = _Checkpoint(
            self._checkpoint.org_id, self._checkpoint.types, self._checkpoint.form, cursor, size
        )
        with whole_or_nothing(self._checkpoint_path) as file:
            file.write(json.dumps(asdict(checkpoint)).encode())
        self._checkpoint = checkpoint

    @contextlib.contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Turn an OSError into an OperatorError that says what to do."""
        try:
            yield
        except OSError as error:
            raise OperatorError(
                f"{self._path} can't be written: {error.strerror}. Mend that and run the same command again: "
                "it goes on where it stopped."
            ) from None


def _write_all(descriptor: int, content: bytes) -> None:
    """Write the whole content, in several writes where needed. Raises OSError."""
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]
