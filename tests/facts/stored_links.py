"""Links that are there already, for tests and benchmarks: stored as they are, without a word in the feed."""

from __future__ import annotations

from collections.abc import Iterable

from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links import links


async def insert_links(database: Database, stored: Iterable[Link]) -> None:
    """Store these links. Their paths must be free; nothing is checked."""
    await database[links.NAME].insert_many(map(links.to_document, stored), ordered=False)
