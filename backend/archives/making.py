"""The background task of a service that makes the archives which organizations asked for, one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import IO

from backend.archives.process import MakingResult, MakingStart
from backend.domain.accounts.organizations import Organization
from backend.domain.archives.archive import MOST_ATTEMPTS, Archive
from backend.domain.mail.mail import Mail
from backend.storage.accounts.organizations import find_organizations
from backend.storage.archives import archives
from backend.storage.archives.pieces import delete_pieces
from backend.storage.driver.connection import uri_of
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.mail.mails import queue_mail
from backend.storage.processes.items import Items
from backend.storage.processes.leased_task import LeasedTask
from backend.storage.processes.work import Work
from backend.system.clock import Clock

ArchiveMailMaker = Callable[[Organization, Archive], Mail]
LEASE = "archives"
_LEASE_DURATION = timedelta(seconds=30)
# Between two renewals of the lease while an archive is made.
_RENEWED_EVERY = 10.0
# Seconds between two looks for archives to make.
STEP_SECONDS = 3.0
# A process that has come no further for so long, such as one that was stopped, holds up all other archives.
LONGEST_SILENCE = 300.0
# Longer than any attempt: pieces of one that was given up are gone then at the latest.
_LONGEST_MAKING = timedelta(days=1)
_logger = logging.getLogger(__name__)


class ComesNoFurther(Exception):
    """The process that makes an archive came no further, and was ended."""

    def __init__(self) -> None:
        super().__init__(f"its process came no further for {LONGEST_SILENCE:.0f} s, and was ended")


class ArchiveMaking(LeasedTask):
    """Makes archives in the background, in one process of all at a time.

    A ready one is kept for the time `kept`. With `make_mail`, a mail tells whoever asked for it. After a
    restart an archive is begun again: what was exported must be as of one moment.
    """

    def __init__(
        self, database: Database, clock: Clock, kept: timedelta, make_mail: ArchiveMailMaker | None = None
    ) -> None:
        super().__init__(Work.ARCHIVES, database, LEASE, _LEASE_DURATION)
        self._items = Items(database, Work.ARCHIVES)
        self._clock = clock
        self._kept = kept
        self._make_mail = make_mail

    async def step(self) -> float:
        """Tell of archives that are ready, and make the next one."""
        untold = await archives.list_untold(self._database)
        to_make = await archives.next_open(self._database, await self._items.waiting())
        if (untold or to_make) and await self.has_turn():
            await self._items.each(untold, self._tell)
            await self._items.each(to_make, self._make)
        return STEP_SECONDS

    async def _make(self, archive: Archive) -> None:
        """Make it. An attempt that stops with the service is none, also where it was just being noted."""
        making = archives.new_making(archive)
        try:
            begun = await archives.begin_making(self._database, archive, making)
            if begun and begun.attempts > MOST_ATTEMPTS:
                error = f"The process that makes it ended {MOST_ATTEMPTS} times; the service's log says more."
                await archives.note_failed(self._database, begun, error, self._clock())
                return
            result = await self._made(begun) if begun else None
        except asyncio.CancelledError:
            with contextlib.suppress(StorageError):  # without MongoDB it counts as an attempt, and this ends
                await archives.give_back(self._database, making)
            raise
        if begun and result:  # from here on the file may be ready, and nobody takes it back
            await self._note(begun, result)

    async def _note(self, archive: Archive, result: MakingResult) -> None:
        """Note how an attempt ended."""
        database, now = self._database, self._clock()
        if result.error:
            _logger.warning("An archive of the organization %s failed: %s", archive.org_id, result.error)
            await archives.note_failed(database, archive, result.error, now)
        elif result.is_away:
            await archives.give_back(database, archive.making)
        elif not result.is_over:
            size, sha256 = result.size, result.sha256
            if not await archives.note_ready(database, archive, size, sha256, kept=self._kept, now=now):
                await delete_pieces(database, archive.org_id, archive.id, archive.making_id)

    async def _made(self, archive: Archive) -> MakingResult | None:
        """Have a process make the archive. None if another process has the turn meanwhile, or it crashed.

        Raises ComesNoFurther.
        """
        process = await asyncio.to_thread(_begin, self._start_of(archive))
        assert process.stdout
        output = _Output(process.stdout)
        # In a thread, as the event loop may be one that can't have processes.
        reading = asyncio.create_task(asyncio.to_thread(output.read))
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=_RENEWED_EVERY)
                if not await self.has_turn():
                    return None
                if time.monotonic() > output.told_at + LONGEST_SILENCE and not reading.done():
                    raise ComesNoFurther
            return output.result
        finally:
            process.kill()
            await reading
            with process:  # close its pipes
                pass

    def _start_of(self, archive: Archive) -> MakingStart:
        expires_at = self._clock() + self._kept + _LONGEST_MAKING
        return MakingStart(
            uri_of(self._database),
            self._database.name,
            archive.org_id,
            archive.id,
            archive.making_id,
            expires_at.isoformat(),
        )

    async def _tell(self, archive: Archive) -> None:
        found = await find_organizations(self._database, [archive.org_id])
        if self._make_mail and found:
            await queue_mail(self._database, self._make_mail(found[0], archive), self._clock())
        await archives.note_told(self._database, archive)


def _begin(start: MakingStart) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "backend.archives.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    # Not as an argument: others on the machine could read the password. It stays open: the process ends
    # with this one.
    process.stdin.write(json.dumps(asdict(start)).encode() + b"\n")
    process.stdin.flush()
    return process


class _Output:
    """What the process prints."""

    def __init__(self, stdout: IO[bytes]) -> None:
        self._stdout = stdout
        self.told_at = time.monotonic()
        self.result: MakingResult | None = None

    def read(self) -> None:
        """Read it to its end."""
        for line in self._stdout:
            self.told_at = time.monotonic()
            if text := line.strip():
                self.result = MakingResult(**json.loads(text))
