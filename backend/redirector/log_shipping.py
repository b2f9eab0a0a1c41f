"""Moves one click log into the database, batch by batch."""

from __future__ import annotations

import logging
from pathlib import Path

from backend.domain.clicks import Click, parse_record
from backend.redirector.click_log import ClickLog, click_id
from backend.redirector.log_writer import LogWriter
from backend.redirector.metrics import count_unreadable
from backend.storage.click_logs import AlreadyShipped, shipped_position
from backend.storage.clicks import ship_clicks
from backend.storage.mongo import Database, deadline

_BATCH_BYTES = 100_000  # about 500 clicks: large enough to be cheap, small enough not to stall redirects
_SHIP_SECONDS = 30.0  # a batch that takes longer is tried again
_logger = logging.getLogger(__name__)


class LogShipping:
    """One log with its position in the database; None means that the database has to be asked first.

    Lines that can't be read are copied to a file with the log's name in the folder `unreadable`. If the
    process is killed before the database knows, the next one copies the same lines again.
    """

    def __init__(
        self,
        database: Database,
        disk: LogWriter,
        log: ClickLog,
        unreadable: Path,
        position: int | None = None,
    ) -> None:
        self.log = log
        self._database = database
        self._disk = disk
        self._unreadable = unreadable / log.path.name
        self._position = position
        self._set_aside_to = 0  # bad lines before here are set aside already

    @property
    def is_done(self) -> bool:
        """Whether the whole log is known to be in the database."""
        return self._position is not None and self._position >= self.log.end

    @property
    def waiting(self) -> int:
        """The number of bytes that are not in the database yet."""
        return self.log.end - (self._position or 0)

    async def ship_batch(self) -> None:
        """Ship the next batch. Raises StorageError, or OSError if the disk fails."""
        if self._position is None:
            self._position = await shipped_position(self._database, self.log.id)
        if self.is_done:
            return
        start = self._position
        stretch = await self._disk.run(lambda: self._next_stretch(start))
        clicks, unreadable = self._read(start, stretch)
        if unreadable:
            await self._disk.run(lambda: self._set_aside(unreadable))
        self._set_aside_to = max(self._set_aside_to, start + len(stretch))
        try:
            with deadline(_SHIP_SECONDS):
                await ship_clicks(self._database, self.log.id, start, start + len(stretch), clicks)
            self._position = start + len(stretch)
        except AlreadyShipped as shipped:
            if shipped.position <= start:
                raise
            self._position = shipped.position

    def _next_stretch(self, start: int) -> bytes:
        """The next complete lines.

        If there are none, bytes that can't be a line: one that is too long, or the end of an incomplete one.
        """
        read = self.log.read(start, min(_BATCH_BYTES, self.log.end - start))
        return read[: read.rfind(b"\n") + 1] or read

    def _read(self, start: int, stretch: bytes) -> tuple[list[Click], list[bytes]]:
        """The clicks in these bytes, and the lines that can't be read and were not set aside before."""
        clicks, unreadable = [], []
        position = start
        for line in stretch.splitlines(keepends=True):
            try:
                clicks.append(parse_record(click_id(self.log.id, position), line))
            except ValueError:
                if position >= self._set_aside_to:
                    unreadable.append(line)
            position += len(line)
        return clicks, unreadable

    def _set_aside(self, lines: list[bytes]) -> None:
        self._unreadable.parent.mkdir(mode=0o700, exist_ok=True)
        with self._unreadable.open("ab") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        count_unreadable(len(lines))
        _logger.error("%s records of %s can't be read and are set aside", len(lines), self.log.path.name)
