"""Signing keys are made once, and after that only read."""

from __future__ import annotations

import uuid

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.monitoring import CommandListener

from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.mongo import Database, Document


class Commands(CommandListener):
    """The names of commands that were sent."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: object) -> None:
        """Note it."""
        self.names.append(event.command_name)  # type: ignore[attr-defined]

    def succeeded(self, event: object) -> None:
        """Nothing."""

    def failed(self, event: object) -> None:
        """Nothing."""


async def test_a_key_that_is_there_is_read_without_a_write(mongodb_uri: str, database: Database) -> None:
    """So a sale is explained, and a click id checked, also while no member takes writes."""
    purpose, commands = uuid.uuid4().hex, Commands()
    made = await signing_key(database, purpose)
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(mongodb_uri, event_listeners=[commands])
    try:
        assert await signing_key(client[database.name], purpose) == made
    finally:
        client.close()
    assert commands.names[0] == "find"
    assert set(commands.names[1:]) <= {"endSessions"}
