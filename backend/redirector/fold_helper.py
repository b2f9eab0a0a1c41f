"""A process that folds clicks for another one, whose redirects would else wait while thousands are counted.

It is started when there is much to fold, ends when there has been nothing for a while, and ends with the
process that started it: it reads its work from that one's pipe, a line of JSON for each fold.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

from backend.domain.ids import OrgId
from backend.storage.click_folds import Busy
from backend.storage.database import COMMAND_SECONDS, connect, uri_of
from backend.storage.folding import Folded, Folds
from backend.storage.lanes import StorageAway
from backend.storage.mongo import Database, StorageError, is_unreachable

_IDLE_SECONDS = 20.0
_ANSWER_SECONDS = 90.0
_GOODBYE_SECONDS = 3.0  # for what is half done when nobody asks any more
_NICENESS = 5  # redirects come first


class HelperFailed(Exception):
    """The helper could not be started, or ended."""


class FoldHelper:
    """Starts the process when it is needed, and talks to it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._process: asyncio.subprocess.Process | None = None
        self._end: asyncio.TimerHandle | None = None

    async def fold(self, org_ids: list[OrgId]) -> Folded:
        """Fold clicks of these organizations, as `Folds.fold` does.

        Raises Busy, StorageError and HelperFailed.
        """
        if self._end:
            self._end.cancel()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await self._ask(org_ids)
        except TimeoutError:
            self._kill()
            raise HelperFailed(f"it has not answered for {_ANSWER_SECONDS:g} s") from None
        except asyncio.CancelledError:
            self._hang_up()
            raise
        self._end = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._hang_up)
        match answer:
            case {"busy": True}:
                raise Busy
            case {"away": True}:
                raise StorageAway
        return Folded(**answer | {"blocks": Counter(answer["blocks"])})

    def stop(self) -> None:
        """Let the process end, once it has done what it is doing.

        Half a transaction would keep documents locked.
        """
        if self._end:
            self._end.cancel()
        self._hang_up()

    async def _ask(self, org_ids: list[OrgId]) -> dict[str, Any]:
        """What the process answers, or if it ends, another one: what it had begun is undone then."""
        try:
            return await self._exchange(org_ids)
        except HelperFailed:
            return await self._exchange(org_ids)

    async def _exchange(self, org_ids: list[OrgId]) -> dict[str, Any]:
        """What the process answers. Raises HelperFailed if it can't be started, or ends, at any moment."""
        try:
            process = self._process = self._process or await self._start()
            assert process.stdin
            assert process.stdout
            process.stdin.write(_line(org_ids))
            await process.stdin.drain()
            if not (line := await process.stdout.readline()):
                raise EOFError("it ended")
            answer: dict[str, Any] = json.loads(line)
        # RuntimeError is what uvloop raises for a pipe whose other end it knows to have ended.
        except (EOFError, OSError, ValueError, RuntimeError) as error:
            self._kill()
            raise HelperFailed(str(error)) from None
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "backend.redirector.fold_helper")
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
        assert process.stdin
        # Not as an argument: others on the machine could read the password.
        process.stdin.write(_line({"uri": uri_of(self._database), "name": self._database.name}))
        return process

    def _hang_up(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = None

    def _kill(self) -> None:
        process = self._process
        self._hang_up()
        if process:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def _line(what: object) -> bytes:
    return json.dumps(what).encode() + b"\n"


async def _work() -> None:
    """Fold what each line of stdin asks for, until it ends."""
    where = json.loads(sys.stdin.readline())
    asked: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read, args=(loop, asked), daemon=True).start()
    async with connect(where["uri"], where["name"], COMMAND_SECONDS) as database:
        folds = Folds(database)
        while line := await asked.get():
            answer = _line(await _answer(folds, json.loads(line)))
            try:
                os.write(sys.stdout.fileno(), answer)
            except BrokenPipeError:  # who asked has ended
                return
            gc.collect()


def _read(loop: asyncio.AbstractEventLoop, asked: asyncio.Queue[str]) -> None:
    """Pass on the lines of stdin.

    At its end, see to it that this process ends soon, whatever it waits for.
    """
    line = "begin"
    while line:
        line = sys.stdin.readline()
        loop.call_soon_threadsafe(asked.put_nowait, line)
    time.sleep(_GOODBYE_SECONDS)
    os._exit(0)


async def _answer(folds: Folds, org_ids: list[OrgId]) -> dict[str, Any]:
    try:
        folded = await folds.fold(org_ids)
    except Busy:
        return {"busy": True}
    except StorageError as error:
        if not is_unreachable(error):
            raise  # this process ends, and the other one tries by itself and tells why it fails
        return {"away": True}
    return {
        "clicks": folded.clicks,
        "blocks": folded.blocks,
        "unreadable": folded.unreadable,
        "is_all": folded.is_all,
        "unmerged": folded.unmerged,
    }


if __name__ == "__main__":
    # Ctrl-C, and what stops a whole group of processes, is for the service, which ends this one in order.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    os.nice(_NICENESS)
    # A fold makes a hundred thousand dictionaries and throws them away. Looking for cycles among them
    # meanwhile takes half of its time, so that is done after each fold.
    gc.freeze()
    gc.disable()
    asyncio.run(_work())
