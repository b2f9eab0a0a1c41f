"""A process that ships clicks of a folder and merges blocks, and kills itself before one of its commands."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from pymongo import monitoring

from backend.redirector.click_log.shipper import Shipper
from backend.settings import Settings
from backend.storage.clicks.merges import merge_small_blocks, organizations_with_small_blocks
from backend.storage.database import Indexes, open_database

# What the driver asks by itself, and what changes nothing.
_NOT_COUNTED = {"hello", "ping", "endSessions", "abortTransaction"}


class _Killer(monitoring.CommandListener):
    """Kills the process before the command of this number, and tells the sessions that are left open then."""

    def __init__(self, number: int, sessions: Connection) -> None:
        self._left = number
        self._sessions = sessions

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Tell the command's session; end here if it is the one."""
        if event.command_name in _NOT_COUNTED:
            return
        if session := event.command.get("lsid"):
            self._sessions.send_bytes(bytes(session["id"]))
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Go on."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Go on."""


def ship_until_killed(uri: str, name: str, folder: Path, number: int, sessions: Connection) -> None:
    """Ship what is in the folder, and merge blocks; end before the command `number`."""
    monitoring.register(_Killer(number, sessions))
    asyncio.run(_ship(Settings(mongodb_uri=uri, mongodb_database=name), folder))
    sys.exit(0)


async def _ship(settings: Settings, folder: Path) -> None:
    async with open_database(settings, Indexes.LEAVE) as database:
        await Shipper(database, folder, folder / "unreadable").stop()
        for org_id in await organizations_with_small_blocks(database, at_least=1):
            await merge_small_blocks(database, org_id)
