"""Others act between two commands that some work sends to MongoDB: what it read may not hold any more.

A storm of requests rarely comes into such a moment. Here each moment comes once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from dataclasses import dataclass
from typing import Any, TypeVar

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import monitoring

from backend.storage.audit.recording import recording
from backend.storage.driver.connection import uri_of
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.collections import COLLECTIONS

ResultT = TypeVar("ResultT")
OtherT = TypeVar("OtherT")
_WRITES = {"insert", "update", "delete", "findAndModify"}
_ENDS = {"commitTransaction", "abortTransaction"}
_LONGEST = 60.0  # seconds that others may take


class _Interruption(monitoring.CommandListener):
    """Has others act before the command of this number, in the thread that is to send it.

    Other threads that work at the same time wait as well, before their next command.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._left = -1
        self._others: Callable[[], Coroutine[Any, Any, Any]] | None = None
        self._holds_locks = False
        self.acted: Future[Any] | None = None

    def prepare(self, number: int, others: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Let them act before the command of this number from now on, counted from 0."""
        self._left, self._others, self.acted, self._holds_locks = number, others, None, False

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Have the others act if this is the moment.

        There is none while a transaction has written: it makes others wait for its end.
        """
        with self._lock:
            if event.command_name in _ENDS:
                self._holds_locks = False
            elif event.command_name != "endSessions" and not self._holds_locks:
                if self._left == 0:
                    self._act()
                self._left -= 1
                is_in_transaction = not event.command.get("autocommit", True)
                self._holds_locks = is_in_transaction and event.command_name in _WRITES

    def _act(self) -> None:
        assert self._others is not None
        # In a context of their own, for the deadline of the work is not theirs.
        self.acted = Context().run(asyncio.run_coroutine_threadsafe, self._others(), self._loop)
        self.acted.exception(_LONGEST)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Note that a refused write has ended its transaction."""
        if event.reply.get("writeErrors"):
            self._holds_locks = False

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Note that the error has ended the transaction."""
        self._holds_locks = False


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment before a command of some work, which uses this database. Others use another one."""

    database: Database
    number: int
    _interruption: _Interruption

    @property
    def came(self) -> bool:
        """Whether the others acted. They did not if the work was over before."""
        return self._interruption.acted is not None

    async def interrupt(
        self, work: Awaitable[ResultT], others: Callable[[], Coroutine[Any, Any, OtherT]]
    ) -> tuple[ResultT, OtherT | None]:
        """What the work results in, and what the others result in who act in this moment; None if the work is
        over before. Raises what either raises."""
        self._interruption.prepare(self.number, others)
        result = await work
        acted = self._interruption.acted
        return result, acted.result() if acted else None


async def moments(database: Database) -> AsyncIterator[Moment]:
    """Each moment of some work, until it is over before the moment comes."""
    interruption = _Interruption()
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri_of(database), tz_aware=True, event_listeners=[interruption]
    )
    options = {name: getattr(database, name) for name in ("codec_options", "read_concern", "write_concern")}
    interrupted = recording(client.get_database(database.name, **options), COLLECTIONS)
    try:
        number = 0
        while not number or interruption.acted:
            yield Moment(interrupted, number, interruption)
            number += 1
        assert number > 1, "the work has no moment in which others could act"
    finally:
        client.close()
