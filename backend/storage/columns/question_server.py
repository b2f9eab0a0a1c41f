"""Serves the questions that come over a socket, until nobody asks any more.

A message is its length in four bytes and a pickle: the socket is in a folder that only its owner may
enter, and who may enter it may also change the files that answers are made from.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from backend.domain.errors import RequestError
from backend.domain.ids import OrgId
from backend.storage.analytics.files import FileAnswer
from backend.storage.analytics.hello import AnotherVersion, exchange_hellos, source_digest
from backend.storage.analytics.messages import (
    MOST_BYTES,
    SIGN_EVERY,
    Socket,
    Start,
    read_message,
    write_message,
)
from backend.storage.analytics.question import NoAnswer
from backend.storage.columns.projections import Projections
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.driver.connection import connect
from backend.storage.driver.mongo import StorageError
from backend.system.clock import utc_now

# Seconds until the process ends: once nobody is connected, and once nobody has asked.
_ALONE_SECONDS = 0.5
_IDLE_SECONDS = 120.0
_MONGODB_SECONDS = 60.0
_HELLO_SECONDS = 10.0


class QuestionServer:
    """Answers the questions of all connections."""

    def __init__(self, projections: Projections) -> None:
        self._projections = projections
        self._connected = 0
        self._changed = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._answering = 0
        self._is_ending = False
        # What was asked when a process ended, one after the other: if it ends again, that was the reason.
        self._suspects = asyncio.Lock()

    async def until_needless(self) -> None:
        """Return once nobody is connected, or nobody has asked for a while and nothing is worked on."""
        while True:
            self._changed.clear()
            seconds = _IDLE_SECONDS if self._connected else _ALONE_SECONDS
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                is_working = self._connected and (self._answering or self._projections.is_working)
                if not self._changed.is_set() and not is_working:
                    return

    def end(self) -> None:
        """Close all connections, also those from now on: their clients ask another process."""
        self._is_ending = True
        for writer in self._writers:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the questions of one connection until it is closed.

        Who runs another version is told so, and does not count as connected: it waits for the process to end.
        """
        try:
            if not self._is_ending:
                async with asyncio.timeout(_HELLO_SECONDS):
                    await exchange_hellos(reader, writer)
        except (AnotherVersion, ConnectionError, TimeoutError):
            writer.close()
            return
        if self._is_ending:
            writer.close()
            return
        await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connected += 1
        self._writers.add(writer)
        self._changed.set()
        answering: dict[int, asyncio.Task[None]] = {}
        signs = asyncio.create_task(_give_signs(writer))
        try:
            while (message := await read_message(reader)) is not None:
                self._changed.set()
                number = message["number"]
                if message.get("is_given_up"):
                    if task := answering.pop(number, None):
                        task.cancel()
                    continue
                task = asyncio.create_task(self._answer(writer, message))
                answering[number] = task
                task.add_done_callback(partial(_forget, answering, number))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            for task in (signs, *answering.values()):
                task.cancel()
            self._connected -= 1
            self._writers.discard(writer)
            self._changed.set()
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
        self._answering += 1
        try:
            async with self._suspects if message.get("is_suspect") else contextlib.nullcontext():
                await write_message(writer, {"number": message["number"], "begun": True})
                async for part in self._parts(message):
                    await write_message(writer, {"number": message["number"], **part})
                    self._changed.set()
        finally:
            self._answering -= 1
            self._changed.set()

    async def _parts(self, message: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            match message:
                case {"org_id": org_id, "long": question}:
                    async with contextlib.aclosing(
                        self._projections.stream(OrgId(org_id), question)
                    ) as pieces:
                        async for piece in pieces:
                            yield {"piece": piece}
                            if isinstance(piece, FileAnswer):
                                await asyncio.Event().wait()  # whoever asked opens it, and then gives up
                    yield {"answer": None}
                case {"org_id": org_id, "questions": questions}:
                    yield {"answer": await self._projections.ask(OrgId(org_id), questions)}
                case _:
                    await self._projections.keep_up()
                    yield {"answer": None}
        except (RequestError, StorageError) as error:
            yield {"error": _sendable(error)}
        except Exception as error:
            sys.excepthook(*sys.exc_info())
            yield {"error": NoAnswer(f"{type(error).__name__}: {error}")}


async def _give_signs(writer: asyncio.StreamWriter) -> None:
    """Say again and again that the process lives, until nobody hears it."""
    with contextlib.suppress(ConnectionError):
        while True:
            await asyncio.sleep(SIGN_EVERY)
            await write_message(writer, {"sign": True})


def _forget(answering: dict[int, asyncio.Task[None]], number: int, _: asyncio.Task[None]) -> None:
    answering.pop(number, None)


def _sendable(error: Exception) -> Exception:
    """The error, or one that says the same, which arrives whole."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:
        return NoAnswer(f"{type(error).__name__}: {error}")
    return error


def run(start: Start) -> None:
    """Serve until nobody is connected, or nobody has asked for a while."""
    asyncio.run(_run(start, Socket(Path(start.folder))))


async def _run(start: Start, socket: Socket) -> None:
    source_digest()  # before its files are replaced
    bounds = EngineBounds(start.memory_mb, start.threads)
    store = ColumnStore(Path(start.folder), bounds)
    async with connect(start.uri, start.name, _MONGODB_SECONDS) as database:
        projections = Projections(database, store, utc_now, start.seconds)
        answers = QuestionServer(projections)
        with socket.bound() as listening:
            server = await asyncio.start_unix_server(answers.serve, sock=listening, limit=MOST_BYTES)
            await answers.until_needless()
            answers.end()
            server.close()
        await projections.close()
