"""Asks the process that has organizations' facts in columns, and starts it where none answers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics.connection import ConnectionLost, ProcessConnection
from backend.storage.analytics.files import FileAnswer, FileQuestion, MadeFile
from backend.storage.analytics.messages import FILES, KEPT_UP, SPILLS, Start, folder_in, org_ids_in
from backend.storage.analytics.process_search import ProcessSearch
from backend.storage.analytics.question import FactsNotReady, LongQuestion, NoAnswer, NotNow, Question
from backend.storage.analytics.tries import DeadlyMessages, Tries
from backend.storage.driver.connection import uri_of
from backend.storage.driver.deadlines import seconds_left
from backend.storage.driver.mongo import Database, StorageError

AnswerT = TypeVar("AnswerT")
# So soon after nothing came of it, no other process is looked for or started.
_PAUSE_SECONDS = 2.0


class Analytics:
    """Asks questions. One connection serves all who ask in this process."""

    def __init__(
        self, database: Database, settings: Settings, waits: Callable[[int], object] | None = None
    ) -> None:
        """With `waits`, questions wait until facts that are made anew are there, however long that takes.

        It is called now and then with the number of clicks that are there.
        """
        self._waits = waits
        self._folder = folder_in(settings.data_dir)
        self._search = ProcessSearch(_start(database, settings))
        self._connection: ProcessConnection | None = None
        self._connecting: asyncio.Task[ProcessConnection] | None = None
        self._pauses_until = 0.0
        self._deadly = DeadlyMessages()

    async def ask(self, org_id: OrgId, question: Question[AnswerT]) -> AnswerT:
        """The answer, with everything in it that was committed before. Raises as `ask_all`."""
        [answer] = await self.ask_all(org_id, [question])
        return answer  # type: ignore[no-any-return]  # the answers of several questions have no common type

    async def ask_all(self, org_id: OrgId, questions: Sequence[Question[Any]]) -> list[Any]:
        """The answers of several questions, all as of one moment.

        Raises FactsNotReady while the facts are made anew, StorageError, and what the questions raise.
        """
        while True:
            try:
                return await self._asked({"org_id": org_id, "questions": list(questions)})  # type: ignore[no-any-return]
            except FactsNotReady as error:
                if self._waits is None:
                    raise
                self._waits(error.clicks or 0)

    async def stream(self, org_id: OrgId, question: LongQuestion[AnswerT]) -> AsyncGenerator[AnswerT, None]:
        """The pieces of a long answer, all as of one moment. Raises as `ask_all`, also between pieces."""
        message = {"org_id": org_id, "long": question}
        tries, is_under_way = Tries(message, self._deadly), False
        while True:
            try:
                async with contextlib.aclosing(self._streamed(message, tries)) as pieces:
                    async for piece in pieces:
                        is_under_way = True
                        yield piece
                return
            except FactsNotReady as error:  # before the first piece
                if self._waits is None:
                    raise
                self._waits(error.clicks or 0)
            except ConnectionLost as lost:
                tries.note(lost)
                if is_under_way:
                    raise NotNow("The process that has the figures has ended; ask again.") from None

    @contextlib.asynccontextmanager
    async def file(self, org_id: OrgId, question: FileQuestion) -> AsyncIterator[MadeFile]:
        """The file that answers the question, open for reading in the block. Raises as `ask_all`.

        It is whole, and no longer has a name: nothing is left of it once it is closed, however this process
        ends.
        """
        with await self._opened(org_id, question) as made:
            yield made

    async def _opened(self, org_id: OrgId, question: FileQuestion) -> MadeFile:
        async with contextlib.aclosing(self.stream(org_id, question)) as pieces:
            async for piece in pieces:
                if isinstance(piece, FileAnswer):
                    with contextlib.suppress(FileNotFoundError):  # the process that had made it has ended
                        return await asyncio.to_thread(MadeFile.open, piece)
        raise NoAnswer("The process that has the figures made no file; see the log.")

    async def _streamed(self, message: dict[str, Any], tries: Tries) -> AsyncGenerator[Any, None]:
        connection = await self._connected()
        exchanged = connection.exchange(message | {"is_suspect": tries.is_suspect})
        async with contextlib.aclosing(exchanged) as parts:
            async for part in parts:
                if "piece" in part:
                    yield part["piece"]

    async def org_ids(self) -> list[OrgId]:
        """The organizations of which facts are kept here."""
        return await asyncio.to_thread(org_ids_in, self._folder)

    async def has_left(self) -> bool:
        """Whether a process has left files here that are no organization's, as one does that is killed."""
        folders = [self._folder / name for name in (FILES, SPILLS)]
        return await asyncio.to_thread(lambda: any(any(folder.glob("*")) for folder in folders))

    async def keep_up(self) -> None:
        """Let what is kept here follow what was erased and deleted."""
        await self._asked({})

    def kept_up_at(self) -> datetime | None:
        """Since when nothing is left here of what was erased or deleted until then; None if it never was."""
        with contextlib.suppress(FileNotFoundError):
            return datetime.fromtimestamp((self._folder / KEPT_UP).stat().st_mtime, UTC)
        return None

    async def close(self) -> None:
        """Close the connection. The process ends by itself."""
        if self._connecting:
            self._connecting.cancel()
            with contextlib.suppress(asyncio.CancelledError, StorageError, OSError):
                self._connection = await self._connecting
        if self._connection:
            await self._connection.close()
            self._connection = None

    async def _asked(self, message: dict[str, Any]) -> Any:
        try:
            async with asyncio.timeout(_until_deadline()):
                return await self._answer(message)
        except TimeoutError:
            raise self._too_late() from None

    async def _answer(self, message: dict[str, Any]) -> Any:
        tries = Tries(message, self._deadly)
        while True:
            connection = await self._connected()
            try:
                exchanged = connection.exchange(message | {"is_suspect": tries.is_suspect})
                async with contextlib.aclosing(exchanged) as parts:
                    async for part in parts:
                        return part["answer"]
            except ConnectionLost as lost:
                tries.note(lost)

    async def _connected(self) -> ProcessConnection:
        if self._connection is None or self._connection.is_lost:
            if self._connecting is None or (self._connecting.done() and self._may_look_again()):
                self._connecting = asyncio.create_task(self._search.connected())
                self._connecting.add_done_callback(self._looked)
            # It goes on if this request has no more time: else no process that hangs would ever be replaced.
            try:
                async with asyncio.timeout(_until_deadline()):
                    self._connection = await asyncio.shield(self._connecting)
            except TimeoutError:
                raise self._too_late() from None
        return self._connection

    def _too_late(self) -> NotNow:
        if self._connection is None or self._connection.is_lost:
            return NotNow("The process that has the figures is not there yet; ask again.")
        return NotNow("The figures take longer than the request may; ask again.")

    def _may_look_again(self) -> bool:
        return time.monotonic() >= self._pauses_until

    def _looked(self, search: asyncio.Task[ProcessConnection]) -> None:
        """Where nothing came of it, let who asks soon have the same error, and not a process each."""
        if not search.cancelled() and search.exception():
            self._pauses_until = time.monotonic() + _PAUSE_SECONDS


def _start(database: Database, settings: Settings) -> Start:
    return Start(
        uri_of(database),
        database.name,
        str(folder_in(settings.data_dir)),
        settings.analytics_memory,
        settings.analytics_threads,
        settings.analytics_seconds,
    )


def _until_deadline() -> float | None:
    """The seconds until the request's deadline; None if it has none."""
    return seconds if (seconds := seconds_left()) < 3600 else None
