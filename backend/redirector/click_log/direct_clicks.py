"""Stores records that the disk refuses directly in the database, in groups, each record once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.retrying import Retries, keep_trying
from backend.domain.clicks.stretch import read_stretch
from backend.redirector.metrics import count_at_risk, count_lost
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import AlreadyShipped, LogHead
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError

_VISITOR_SECONDS = 0.4  # that a visitor waits for the database, after half a second for the disk at most
_STORE_SECONDS = 2.0
_MOST_WAITING = 10_000  # some 2 MB
_MOST_IN_GROUP = 500
_logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Group:
    """Records that one transaction stores like a log of their own, so that a second try stores none twice."""

    lines: Sequence[bytes]
    stored: Sequence[asyncio.Future[None]]
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


class DirectClicks:
    """Stores clicks without a click log. While MongoDB does not answer, they wait in memory, up to a limit.

    Visitors then do not wait.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[tuple[bytes, asyncio.Future[None]]] = deque()
        self._group: _Group | None = None
        self._arrived = asyncio.Event()
        self._is_down = False
        self.task = BackgroundTask("storing clicks that the disk did not take", self._keep_storing)

    async def store(self, line: bytes) -> None:
        """Return once the click is in the database, or once it is clear that this takes longer."""
        stored = self.add(line)
        if stored and not self._is_down:
            await asyncio.wait({stored}, timeout=_VISITOR_SECONDS)
        if stored and not stored.done():
            self._is_down = True
            count_at_risk(1)

    def add(self, line: bytes) -> asyncio.Future[None] | None:
        """Add a click to be stored.

        The future is done once it is; None if too many wait, and the click is lost.
        """
        if len(self._waiting) >= _MOST_WAITING:
            self._lose(1)
            return None
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, stored))
        self._arrived.set()
        return stored

    async def store_rest(self) -> None:
        """Store everything that waits. Raises StorageError."""
        while self._group or self._waiting:
            await self._store_group()

    def give_up(self) -> None:
        """The process ends: clicks that still wait are lost, and counted as such."""
        waiting = len(self._waiting) + (len(self._group.lines) if self._group else 0)
        if waiting:
            self._lose(waiting)

    async def _keep_storing(self) -> NoReturn:
        await keep_trying(self._store_arrived, StorageError, self._note_failure, Retries())

    async def _store_arrived(self) -> float:
        """Wait for clicks and store a group of them. Returns the seconds to rest: none."""
        await self._arrived.wait()
        await self._store_group()
        return 0.0

    def _note_failure(self, _: Exception) -> None:
        self._is_down = True

    async def _store_group(self) -> None:
        """Store what has arrived so far.

        After a failure the same group is stored again, since it may have been stored.
        """
        group = self._group = self._group or self._next_group()
        lines = b"".join(group.lines)
        contents = read_stretch(lines)
        with contextlib.suppress(AlreadyShipped), deadline(_STORE_SECONDS):
            await ship_blocks(
                self._database, group.id, LogHead(), len(lines), contents.blocks, handoffs=contents.handoffs
            )
        self._group, self._is_down = None, False
        for stored in group.stored:
            if not stored.done():
                stored.set_result(None)
        if not self._waiting:
            self._arrived.clear()

    def _next_group(self) -> _Group:
        clicks = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_IN_GROUP))]
        return _Group([line for line, _ in clicks], [stored for _, stored in clicks])

    def _lose(self, clicks: int) -> None:
        count_lost(clicks)
        _logger.error("%s clicks are lost: neither disk nor database takes them", clicks)
