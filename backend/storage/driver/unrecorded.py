"""A database that records what is written (storage/audit/recording), and the driver's own behind it."""

from __future__ import annotations

from typing import Any

from backend.storage.driver.mongo import Database


class RecordedDatabase:
    """A database that is not the driver's own, but is used as it."""

    def __init__(self, stored: Database) -> None:
        self.stored = stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stored, name)


def unrecorded(database: Database) -> Database:
    """The driver's database, for writes without entries: the service's own notes, whole organizations."""
    return database.stored if isinstance(database, RecordedDatabase) else database
