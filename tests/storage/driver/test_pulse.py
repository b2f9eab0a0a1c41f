"""The check whether MongoDB answers goes on, whatever happens."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.monitoring import CommandListener, CommandStartedEvent

from backend.storage.driver.connection import connect
from backend.storage.driver.lanes import BACKGROUND, Lane
from backend.storage.driver.mongo import Database, ping
from backend.storage.driver.pulse import Pulse
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
        await until(lambda: pulse.failures != [], "nobody is told")
        assert pulse.failures == ["asking whether MongoDB answers: RuntimeError"]
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


async def test_a_server_that_hung_is_asked_though_the_driver_takes_it_for_slow(mongodb_uri: str) -> None:
    """What the driver measured while MongoDB hung does not make it refuse to ask whether it answers again."""
    lane = Told()
    async with connect(mongodb_uri, "pulse", 5.0) as database:
        await ping(database)
        (server,) = database.client.delegate._topology._servers.values()
        server._monitor._rtt_monitor.get = lambda: (2.0, 2.0)
        await until(lambda: server.description.min_round_trip_time == 2.0, "it measures by itself")
        async with Pulse(database, [lane]):
            await until(lambda: lane.times > 1, "it counts as away")


class Pings(CommandListener):
    """Counts how often it was asked whether it answers."""

    number = 0

    def started(self, event: CommandStartedEvent) -> None:
        """Count."""
        self.number += event.command_name == "ping"

    def succeeded(self, event: object) -> None:
        """Of no interest."""

    def failed(self, event: object) -> None:
        """Of no interest."""


async def test_who_sees_writes_confirmed_does_not_ask(mongodb_uri: str) -> None:
    """While writes are confirmed MongoDB is not asked whether it answers, and is asked once they cease."""
    lane, pings = Told(), Pings()
    client = AsyncIOMotorClient[dict[str, Any]](mongodb_uri, event_listeners=[pings])
    lane.times = 1  # it does not fail
    async with Pulse(client["pulse"], [lane]) as pulse:
        await until(lambda: pings.number, "it is never asked")
        asked, told = pings.number, lane.times
        for _ in range(40):
            pulse.note_write()
            await asyncio.sleep(0.05)
        assert pings.number == asked
        assert lane.times > told + 1  # it goes on telling
        await until(lambda: pings.number > asked, "it is never asked again")
    client.close()
