"""A file as a target: lines are added, and the cursor is kept in a small file beside it.

Lines reach the disk before the cursor that stands behind them. Whatever is in the file behind the kept
cursor was not finished, and is cut off at the next start: so each event is there exactly once.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor, InvalidCursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId
from backend.follow.event_lines import LineForm, Lines
from backend.follow.locked_file import locked_file
from backend.follow.target import Followed, TargetMismatch, check_same
from backend.system.whole_file import whole_or_nothing


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the file beside says: up to which byte the lines are finished, and which cursor is behind them."""

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
        self._beside = path.with_name(f"{path.name}.cursor")
        self._form = form
        self._lines = Lines(form)
        self._descriptor: int | None = None
        self._kept = _Kept(OrgId(""), None, form.value, "", 0)

    async def open(self, followed: Followed) -> Cursor:
        """Lock the file, and cut off what was not finished.

        A file that was moved away is begun again, behind what the moved one has.
        """
        with self._told():
            self._descriptor = locked_file(self._path)
            size = os.fstat(self._descriptor).st_size
            self._kept = self._read(size) or self._begin(followed)
            check_same(self._kept.org_id, self._kept.types, followed, str(self._path))
            self._resume(size)
        return Cursor.parse(self._kept.cursor)

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Add the lines, and keep the cursor once the disk has them."""
        if str(cursor) == self._kept.cursor:
            return
        assert self._descriptor is not None
        head = "" if self._kept.size or not events else self._lines.head()
        content = f"{head}{self._lines.lines(events)}".encode()
        with self._told():
            _write_all(self._descriptor, content)
            os.fsync(self._descriptor)
            self._keep(str(cursor), self._kept.size + len(content))

    async def close(self) -> None:
        """Let another follower have the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _begin(self, followed: Followed) -> _Kept:
        """What is kept of a new file. It is kept first: what has lines and no cursor is somebody else's."""
        self._kept = _Kept(followed.org_id, followed.named_types, self._form.value, "", 0)
        self._keep(str(followed.after), 0)
        return self._kept

    def _read(self, size: int) -> _Kept | None:
        """What is kept; None for a new file. Raises TargetMismatch."""
        try:
            kept = _Kept(**json.loads(self._beside.read_text(encoding="utf-8")))
            Cursor.parse(kept.cursor)
        except FileNotFoundError:
            if size:
                raise TargetMismatch(
                    f"{self._path} is there, without {self._beside.name} beside it, which would say where to "
                    "go on. Name another file with --to, or move this one away."
                ) from None
            return None
        except (ValueError, TypeError, InvalidCursor):
            raise TargetMismatch(f"{self._beside} is damaged. Begin another file.") from None
        if kept.form != self._form:
            raise TargetMismatch(f"{self._path} was begun with --into {kept.form}. Go on with that.")
        return kept

    def _resume(self, size: int) -> None:
        """Go on behind the last finished line."""
        assert self._descriptor is not None
        if size == 0 and self._kept.size:
            self._keep(self._kept.cursor, 0)
        if size and size < self._kept.size:
            raise TargetMismatch(
                f"{self._path} is shorter than what was written into it: {size:,} of {self._kept.size:,} "
                "bytes. Put it back, or move it away to go on in a new file."
            )
        os.ftruncate(self._descriptor, self._kept.size)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if self._kept.size:
            with self._path.open(encoding="utf-8") as begun:
                self._lines = Lines(self._form, begun.readline())

    def _keep(self, cursor: str, size: int) -> None:
        kept = _Kept(self._kept.org_id, self._kept.types, self._kept.form, cursor, size)
        with whole_or_nothing(self._beside) as file:
            file.write(json.dumps(asdict(kept)).encode())
        self._kept = kept

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell what the disk refuses as an error that says what to do."""
        try:
            yield
        except OSError as error:
            raise OperatorError(
                f"{self._path} can't be written: {error.strerror}. Mend that and run the same command again: "
                "it goes on where it stopped."
            ) from None


def _write_all(descriptor: int, content: bytes) -> None:
    """Write all of it, where one write may take but a part. Raises OSError."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
