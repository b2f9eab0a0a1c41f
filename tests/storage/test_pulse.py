"""The check whether MongoDB answers goes on, whatever happens."""

from __future__ import annotations

import threading

from backend.storage.lanes import BACKGROUND, Lane
from backend.storage.mongo import Database
from backend.storage.pulse import Pulse
from tests.polling import until


class Told(Lane):
    """A lane that counts how often it was told that MongoDB answers, and fails the first time."""

    def __init__(self) -> None:
        super().__init__("told", 1, 1)
        self.times = 0

    def back(self) -> None:
        """Count, or fail."""
        self.times += 1
        if self.times == 1:
            raise RuntimeError("can't start new thread")


async def test_the_pulse_outlives_failures(database: Database) -> None:
    """After a failure that is not the database's it asks again, and says so until then."""
    lane = Told()
    async with Pulse(database, [lane]) as pulse:
        await until(lambda: pulse.failure is not None, "nobody is told")
        assert pulse.failure == "asking whether MongoDB answers: RuntimeError"
        await until(lambda: lane.times > 2, "it does not ask any more")


async def test_the_pulse_waits_behind_no_other_call(database: Database) -> None:
    """While every thread for background work is held, lanes are still told that MongoDB answers."""
    lane, held = Told(), threading.Event()
    try:
        for _ in range(64):
            BACKGROUND.submit(held.wait)
        async with Pulse(database, [lane]):
            await until(lambda: lane.times > 2, "it waits behind other calls")
    finally:
        held.set()
