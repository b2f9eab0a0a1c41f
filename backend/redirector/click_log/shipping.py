"""Ships the records of one click log to MongoDB, stretch by stretch."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.stretch import Stretch, read_stretch
from backend.redirector.click_log.files import ClickLog
from backend.redirector.click_log.writer import LogWriter
from backend.redirector.metrics import count_unreadable
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead, LogPutBack, find_head
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database

STRETCH_BYTES = 1_000_000  # some 6,000 clicks: as many as wait are shipped together, up to these
_SIDE_BYTES = 10_000  # more than that is read beside the event loop
# Seconds after which the database is asked again how far a log is shipped of which nothing waits.
_LOOK_AGAIN_SECONDS = 60.0
_SHIP_SECONDS = 30.0  # a stretch that takes longer is tried again
_logger = logging.getLogger(__name__)


class LogShipping:
    """One log, and how far it is shipped. Without a `head`, the database is asked for that first.

    Records that can't be read are copied to a file with the log's name in the folder `unreadable`. If the
    process is killed before the database knows, the next one copies the same records again.

    If MongoDB was put back from a backup, what was shipped since is shipped again, as far as the log has it.
    """

    def __init__(
        self,
        database: Database,
        disk: LogWriter,
        log: ClickLog,
        unreadable: Path,
        head: LogHead | None = None,
    ) -> None:
        self.log = log
        self._database = database
        self._disk = disk
        self._unreadable = unreadable / log.path.name
        self._head = head
        self._looked_at = time.monotonic()
        self._set_aside_to = 0  # unreadable records before here are set aside already

    @property
    def is_done(self) -> bool:
        """Whether the whole log is known to be shipped."""
        return self._head is not None and self._head.position >= self.log.end

    @property
    def waiting(self) -> int:
        """The number of bytes that are not shipped yet."""
        return self.log.end - (self._head.position if self._head else 0)

    async def ship_stretch(self) -> None:
        """Ship what waits, up to a size. Raises StorageError, or OSError if the disk fails."""
        if self._head is None or (self.is_done and time.monotonic() > self._looked_at + _LOOK_AGAIN_SECONDS):
            await self.look_again()
        head = self._head
        if head is None or self.is_done:
            return
        start = head.position
        stretch = await self._disk.run(lambda: self._next_stretch(start))
        end = start + len(stretch)
        contents = await _read(stretch)
        unreadable = [line for at, line in contents.unreadable if start + at >= self._set_aside_to]
        if unreadable:
            await self._disk.run(lambda: self._set_aside(unreadable))
        self._set_aside_to = max(self._set_aside_to, end)
        try:
            with deadline(_SHIP_SECONDS):
                self._head = await ship_blocks(
                    self._database, self.log.id, head, end, contents.blocks, handoffs=contents.handoffs
                )
        except AlreadyShipped as shipped:
            if shipped.head.position <= start:
                raise
            self._head = shipped.head
        except LogPutBack as put_back:
            self._go_to(put_back.head)

    async def look_again(self) -> None:
        """Ask the database how far the log is shipped. Raises StorageError."""
        self._go_to(await find_head(self._database, self.log.id))
        self._looked_at = time.monotonic()

    def _go_to(self, head: LogHead) -> None:
        if self._head and head.position < self._head.position:
            _logger.warning(
                "MongoDB was put back from a backup: %s is shipped again from byte %s on, instead of %s",
                self.log.path.name, head.position, self._head.position,
            )  # fmt: skip
        self._head = head

    def _next_stretch(self, start: int) -> bytes:
        """The next complete lines.

        If there are none, bytes that can't be a line: one that is too long, or the end of an incomplete one.
        """
        read = self.log.read(start, min(STRETCH_BYTES, self.log.end - start))
        return read[: read.rfind(b"\n") + 1] or read

    def _set_aside(self, lines: list[bytes]) -> None:
        self._unreadable.parent.mkdir(mode=0o700, exist_ok=True)
        with self._unreadable.open("ab") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in lines)
        count_unreadable(len(lines))
        _logger.error("%s records of %s can't be read and are set aside", len(lines), self.log.path.name)


async def _read(stretch: bytes) -> Stretch:
    if len(stretch) <= _SIDE_BYTES:
        return read_stretch(stretch)
    return await LONG_WORK.run("click log", lambda: read_stretch(stretch))
