"""A connection to the process that answers questions."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncGenerator
from typing import Any

from backend.concurrency.processes import peer_of
from backend.storage.analytics.hello import exchange_hellos
from backend.storage.analytics.messages import MOST_BYTES, SIGN_EVERY, read_message, write_message

# A process that has sent nothing for so long was stopped, and is replaced. One of a busy machine may be late.
_SILENCE_SECONDS = 10 * SIGN_EVERY
_logger = logging.getLogger(__name__)


class ConnectionLost(Exception):
    """The process has ended, or says nothing any more: whoever asked may ask another one.

    With `is_begun`, it was at work on what was asked then.
    """

    def __init__(self, *, is_begun: bool) -> None:
        super().__init__("the process has ended")
        self.is_begun = is_begun


class Silent(Exception):
    """Whoever listens says nothing: this process, None if that is not known."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(f"process {pid}")
        self.pid = pid


class ProcessConnection:
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
    async def open(cls, path: str) -> ProcessConnection:
        """Connect.

        Raises OSError where nobody listens any more, Silent where nobody says a word, and AnotherVersion.
        """
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
        peer = peer_of(writer.get_extra_info("socket"))
        try:
            async with asyncio.timeout(_SILENCE_SECONDS):
                hello = await exchange_hellos(reader, writer)
        except BaseException as error:
            writer.close()
            if isinstance(error, TimeoutError):
                raise Silent(peer) from None
            raise
        return cls(reader, writer, peer or hello.pid)

    async def exchange(self, message: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Send the message, and give what comes of it. Raises ConnectionLost, and the error that comes."""
        self._number += 1
        number, received = self._number, asyncio.Queue[dict[str, Any] | None]()
        self._waiting[number] = received
        is_over, is_begun = False, False
        try:
            await write_message(self._writer, message | {"number": number})
            while not is_over:
                if (part := await received.get()) is None:
                    raise ConnectionLost(is_begun=is_begun)
                is_begun = True
                is_over = "answer" in part or "error" in part
                if "error" in part:
                    raise part["error"]
                if "begun" not in part:
                    yield part
        except (ConnectionError, RuntimeError) as error:  # RuntimeError is uvloop's for a closed transport
            self._lose()
            raise ConnectionLost(is_begun=is_begun) from error
        finally:
            del self._waiting[number]
            if not is_over and not self.is_lost:
                with contextlib.suppress(ConnectionError, RuntimeError):
                    await write_message(self._writer, {"number": number, "is_given_up": True})

    async def close(self) -> None:
        """Close the connection."""
        self._lose()
        await asyncio.wait(self._tasks)

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
