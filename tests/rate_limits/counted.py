"""What limits have counted, as tests read it."""

from __future__ import annotations

from typing import Any

from pymongo.read_concern import ReadConcern

from backend.storage.accounts import rate_limits
from backend.storage.driver.mongo import Database


def counted_now(database: Database) -> Any:
    """The collection with what was written just now: counting does not wait for a majority."""
    return database.get_collection(rate_limits.NAME, read_concern=ReadConcern("local"))
