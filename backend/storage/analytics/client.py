"""Asks the process that has organizations' facts in columns, and starts it where none answers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from backend.concurrency.processes import who_locks
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.analytics import process_start
from backend.storage.analytics.files import FileAnswer, FileQuestion, MadeFile
from backend.storage.analytics.messages import (
    FILES,
    KEPT_UP,
    LOCK,
    MOST_BYTES,
    PROTOCOL,
    SIGN_EVERY,
    SPILLS,
    Socket,
    Start,
    folder_in,
    org_ids_in,
    read_message,
    write_message,
)
from backend.storage.analytics.process_start import StartedProcess
from backend.storage.analytics.question import FactsNotReady, LongQuestion, NoAnswer, Question
from backend.storage.driver.connection import uri_of
from backend.storage.driver.deadlines import seconds_left
from backend.storage.driver.mongo import Database, StorageError
from backend.system.private_folder import private_folder

AnswerT = TypeVar("AnswerT")
# A process that has sent nothing for so long was stopped, and is replaced. One of a busy machine may be late.
_SILENCE_SECONDS = 10 * SIGN_EVERY
_START_SECONDS = 15.0
_MOST_TRIES = 3
_logger = logging.getLogger(__name__)


class ConnectionLost(Exception):
    """The process has ended, or says nothing any more: whoever asked may ask another one."""


class Analytics:
    """Asks questions. One connection serves all who ask in this process."""

    def __init__(
        self, database: Database, settings: Settings, waits: Callable[[int], object] | None = None
    ) -> None:
        """With `waits`, questions wait until facts that are made anew are there, however long that takes.

        It is called now and then with the number of clicks that are there.
        """
        self._database = database
        self._waits = waits
        self._folder = folder_in(settings.data_dir)
        self._settings = settings
        self._connection: _Connection | None = None
        self._connecting: asyncio.Task[_Connection] | None = None

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
        tries, is_begun = 0, False
        while True:
            try:
                async with contextlib.aclosing(self._streamed(org_id, question)) as pieces:
                    async for piece in pieces:
                        is_begun = True
                        yield piece
                return
            except FactsNotReady as error:  # before the first piece
                if self._waits is None:
                    raise
                self._waits(error.clicks or 0)
            except ConnectionLost:
                tries += 1
                if is_begun or tries == _MOST_TRIES:
                    raise NoAnswer("The process that has the figures has ended; ask again.") from None

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

    async def _streamed(
        self, org_id: OrgId, question: LongQuestion[AnswerT]
    ) -> AsyncGenerator[AnswerT, None]:
        connection = await self._connected()
        async with contextlib.aclosing(connection.exchange({"org_id": org_id, "long": question})) as parts:
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
            async with asyncio.timeout(seconds if (seconds := seconds_left()) < 3600 else None):
                return await self._answer(message)
        except TimeoutError:
            raise NoAnswer("The figures take longer than the request may; ask again.") from None

    async def _answer(self, message: dict[str, Any]) -> Any:
        for _ in range(_MOST_TRIES):
            connection = await self._connected()
            try:
                async with contextlib.aclosing(connection.exchange(message)) as parts:
                    async for part in parts:
                        return part["answer"]
            except ConnectionLost:
                continue
        raise NoAnswer("The process that has the figures ends again and again; see the log.")

    async def _connected(self) -> _Connection:
        if self._connection is None or self._connection.is_lost:
            if self._connecting is None or self._connecting.done():
                self._connecting = asyncio.create_task(self._connect())
                self._connecting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            # It goes on if this request has no more time: else no process that hangs would ever be replaced.
            self._connection = await asyncio.shield(self._connecting)
        return self._connection

    async def _connect(self) -> _Connection:
        try:
            private_folder(self._folder)
        except OSError as error:
            raise NoAnswer(f"The folder of the figures, {self._folder}, can't be used: {error}") from error
        socket, ends = Socket(self._folder), time.monotonic() + _START_SECONDS
        process: StartedProcess | None = None
        while time.monotonic() < ends:
            try:
                return await _Connection.open(socket.path)
            except ConnectionLost:
                self._end_silent()
            except OSError:  # nobody listens
                is_started = process is not None and process.poll() is None
                if not is_started and not who_locks(self._folder / LOCK):  # nor begins to, or ends
                    process = await asyncio.to_thread(self._start)
            await asyncio.sleep(0.02)
        self._end_silent()
        raise NoAnswer("The process that has the figures does not start; see the log.")

    def _start(self) -> StartedProcess:
        settings = self._settings
        start = Start(
            uri_of(self._database),
            self._database.name,
            str(self._folder),
            settings.analytics_memory,
            settings.analytics_threads,
            settings.analytics_seconds,
        )
        return process_start.start_process(start)

    def _end_silent(self) -> None:
        """End a process that has the folder and says nothing: its files are whole, whenever it ends."""
        if pid := who_locks(self._folder / LOCK):
            _logger.warning("The process %s, which has the figures, says nothing and is replaced", pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


class _Connection:
    """A connection to the process, for any number of messages at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self.is_lost = False
        self._pid = pid
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._waiting: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._has_heard = False
        self._tasks = [asyncio.create_task(self._receive()), asyncio.create_task(self._watch())]

    @classmethod
    async def open(cls, path: str) -> _Connection:
        """Connect.

        Raises OSError where nobody listens any more, ConnectionLost where nobody says a word that this
        version of Waylink understands, and NoAnswer where a newer one has the figures.
        """
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
        try:
            async with asyncio.timeout(_SILENCE_SECONDS):
                hello = await read_message(reader)
        except TimeoutError:
            writer.close()
            raise ConnectionLost from None
        except asyncio.IncompleteReadError:
            hello = None
        if hello is None:  # it is ending
            writer.close()
            raise ConnectionRefusedError
        if hello["protocol"] != PROTOCOL:
            writer.close()
            if hello["protocol"] > PROTOCOL:
                raise NoAnswer(
                    f"Waylink {hello['version']} has the figures of this host, which this older one can't "
                    "ask: restart the service with that version."
                )
            raise ConnectionLost
        return cls(reader, writer, hello["pid"])

    async def exchange(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Send the message, and give what comes of it. Raises ConnectionLost, and the error that comes."""
        self._number += 1
        number, received = self._number, asyncio.Queue[dict[str, Any] | None]()
        self._waiting[number] = received
        is_over = False
        try:
            await write_message(self._writer, message | {"number": number})
            while not is_over:
                part = await self._next(received)
                is_over = "answer" in part or "error" in part
                if "error" in part:
                    raise part["error"]
                yield part
        except (ConnectionError, RuntimeError) as error:  # RuntimeError is uvloop's for a closed transport
            self._lose()
            raise ConnectionLost from error
        finally:
            del self._waiting[number]
            if not is_over and not self.is_lost:
                with contextlib.suppress(ConnectionError, RuntimeError):
                    await write_message(self._writer, {"number": number, "is_given_up": True})

    async def close(self) -> None:
        """Close the connection."""
        self._lose()
        await asyncio.wait(self._tasks)

    async def _next(self, received: asyncio.Queue[dict[str, Any] | None]) -> dict[str, Any]:
        part = await received.get()
        if part is None:
            raise ConnectionLost
        return part

    async def _watch(self) -> None:
        """End the process if it says nothing any more, however soon each of those who ask gives up."""
        silence = 0.0  # as long as this process has listened: it may have been stopped, too
        while silence < _SILENCE_SECONDS:
            self._has_heard = False
            await asyncio.sleep(SIGN_EVERY)
            silence = 0.0 if self._has_heard else silence + SIGN_EVERY
        _logger.warning("The process %s, which has the figures, says nothing and is replaced", self._pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._lose()

    async def _receive(self) -> None:
        try:
            while (message := await read_message(self._reader)) is not None:
                self._has_heard = True
                if waiting := self._waiting.get(message.get("number", 0)):
                    waiting.put_nowait(message)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._lose()

    def _lose(self) -> None:
        self.is_lost = True
        self._writer.close()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        for waiting in self._waiting.values():
            waiting.put_nowait(None)
