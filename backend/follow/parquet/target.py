"""Parquet files as a target: `<folder>/org_id=…/day=…/*.parquet`, with the cursor in a file beside the days.

The days of a page are stored before its rows are written, and the cursor behind them afterwards. The next run
deletes the rows behind the cursor on those days, so each event is there exactly once. Rows of a day are added
to its last file until that is large, so that there are few files. A file is replaced as a whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path

import duckdb

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor, InvalidCursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId
from backend.follow.erasures import without_person
from backend.follow.locked_file import locked_file
from backend.follow.parquet.erasure import erase
from backend.follow.parquet.rows import ParquetRows, days_of
from backend.follow.target import FollowedFeed, TakenBack, TargetMismatch, check_same, entry_of
from backend.system.folder_owner import make_folder
from backend.system.whole_file import whole_or_nothing

# A file with this many rows gets no more, since each addition writes the whole file again.
MOST_ROWS = 100_000
_PRIVATE = 0o700
_CURSOR, _LOCK = "waylink.cursor", "waylink.lock"


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """The content of the file beside the days: the cursor, and the days of a page that is not finished."""

    org_id: OrgId
    types: list[str] | None
    cursor: str
    unfinished_days: list[str]


class ParquetTarget:
    """Writes below the folder at `path`, which several organizations may share.

    Deletes the rows of people who are erased.
    """

    needs: Set[EventType] = frozenset({EventType.ERASED})

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: ParquetRows | None = None
        self._lock: int | None = None
        self._folder = path
        self._checkpoint = _Checkpoint(OrgId(""), None, "", [])
        self._types: Set[EventType] = frozenset()

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Lock the organization's folder, delete unfinished rows, and return the stored cursor."""
        self._types = followed.types
        self._folder = self._path / f"org_id={followed.org_id}"
        with self._write_errors():
            make_folder(self._folder, _PRIVATE)
            self._lock = locked_file(self._folder / _LOCK)
            self._rows = ParquetRows()
            self._checkpoint = self._read_checkpoint() or self._new_checkpoint(followed)
            check_same(self._checkpoint.org_id, self._checkpoint.types, followed, str(self._folder))
            await asyncio.to_thread(self._cut_off)
        return Cursor.parse(self._checkpoint.cursor)

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write the rows, and store the cursor once they are on disk."""
        if str(cursor) == self._checkpoint.cursor:
            return
        with self._write_errors():
            await asyncio.to_thread(self._write, events, cursor)

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """The last entries up to this place of which there are rows."""
        assert self._rows is not None
        with self._write_errors():
            ids = await asyncio.to_thread(self._rows.last_ids, self._files(), place, limit)
        return {place: entry_of(event_id) for place, event_id in ids.items()}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Delete the rows behind the cursor, and then store it."""
        with self._write_errors():
            return await asyncio.to_thread(self._go_back, cursor)

    async def close(self) -> None:
        """Let another follower have the folder."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write(self, events: Sequence[Event], cursor: Cursor) -> None:
        self._store_checkpoint(replace(self._checkpoint, unfinished_days=sorted(days_of(events))))
        for is_erasure, group in groupby(events, lambda event: event.type is EventType.ERASED):
            if is_erasure:
                self._erase(list(group))
            else:
                self._add(list(group))
        self._store_checkpoint(replace(self._checkpoint, cursor=str(cursor), unfinished_days=[]))

    def _add(self, events: Sequence[Event]) -> None:
        assert self._rows is not None
        for day, events_of_day in days_of(events).items():
            folder = self._folder / f"day={day}"
            make_folder(folder, _PRIVATE)
            self._rows.add(self._file_for(folder, events_of_day[0]), events_of_day)

    def _file_for(self, folder: Path, event: Event) -> Path:
        """The file to add the event to: the folder's last one, or a new one if that is large."""
        assert self._rows is not None
        files = sorted(folder.glob("*.parquet"))
        if files and self._rows.count(files[-1]) < MOST_ROWS:
            return files[-1]
        return folder / f"{event.cursor.place:012}-{event.cursor.index:06}.parquet"

    def _erase(self, events: Sequence[Event]) -> None:
        """Delete the rows of these people, and keep rows of the erasures without their names."""
        assert self._rows is not None
        for event in events:
            erase(self._rows, self._folder, event.data)
        if EventType.ERASED in self._types:
            self._add([without_person(event) for event in events])

    def _cut_off(self) -> None:
        """Delete the rows of a page that was not finished."""
        assert self._rows is not None
        for unfinished in self._folder.glob("day=*/*.unfinished"):
            unfinished.unlink()
        for day in self._checkpoint.unfinished_days:
            files = list((self._folder / f"day={day}").glob("*.parquet"))
            self._rows.cut_off(files, Cursor.parse(self._checkpoint.cursor))

    def _go_back(self, cursor: Cursor) -> TakenBack:
        assert self._rows is not None
        types = self._rows.cut_off(self._files(), cursor)
        self._store_checkpoint(replace(self._checkpoint, cursor=str(cursor), unfinished_days=[]))
        return TakenBack(len(types), types.count(EventType.ERASED))

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("day=*/*.parquet"))

    def _new_checkpoint(self, followed: FollowedFeed) -> _Checkpoint:
        """Store the checkpoint of a new folder. Raises TargetMismatch if it has files, which are not ours."""
        if any(self._folder.glob("**/*.parquet")):
            raise TargetMismatch(
                f"{self._folder} has files, without {_CURSOR} beside them, which would say where to go on. "
                "Name another folder with --to, or move this one away."
            )
        self._store_checkpoint(_Checkpoint(followed.org_id, followed.named_types, str(followed.after), []))
        return self._checkpoint

    def _read_checkpoint(self) -> _Checkpoint | None:
        """The stored checkpoint; None for a new folder. Raises TargetMismatch."""
        path = self._folder / _CURSOR
        try:
            checkpoint = _Checkpoint(**json.loads(path.read_text(encoding="utf-8")))
            Cursor.parse(checkpoint.cursor)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, InvalidCursor):
            raise TargetMismatch(f"{path} is damaged. Begin another folder.") from None
        return checkpoint

    def _store_checkpoint(self, checkpoint: _Checkpoint) -> None:
        with whole_or_nothing(self._folder / _CURSOR) as file:
            file.write(json.dumps(asdict(checkpoint)).encode())
        self._checkpoint = checkpoint

    @contextlib.contextmanager
    def _write_errors(self) -> Iterator[None]:
        """Turn an error of the disk or of DuckDB into an OperatorError that says what to do."""
        try:
            yield
        except (OSError, duckdb.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
            raise OperatorError(
                f"{self._folder} can't be written: {reason}. Mend that and run the same command again: "
                "it goes on where it stopped."
            ) from None
