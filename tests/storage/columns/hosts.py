"""Hosts of tests' own, in this process, questions about all that a file has, and what is in files' bytes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from backend.domain.ids import OrgId
from backend.storage.analytics.question import Facts, FactsNotReady, Question
from backend.storage.columns.projections import Projections
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock, utc_now
from tests.facts.feeds import place_all


@dataclass(frozen=True)
class CountClicks(Question[int]):
    """How many requests are in the columns, all of which are read for that."""

    def answer(self, facts: Facts) -> int:
        """Their number."""
        read = "SELECT bit_xor(hash(clicks)), coalesce(sum(weight), 0) FROM clicks"
        [(_, clicks)] = facts.connection.execute(read).fetchall()
        return int(clicks)


@asynccontextmanager
async def host(
    database: Database, folder: Path, memory_mb: int = 160, clock: Clock = utc_now
) -> AsyncIterator[Projections]:
    """A host that has its files in this folder."""
    store = ColumnStore(folder, EngineBounds(memory_mb=memory_mb, threads=1))
    projections = Projections(database, store, clock, 60)
    try:
        yield projections
    finally:
        await projections.close()


async def count(projections: Projections, database: Database, org_id: OrgId) -> int:
    """The clicks of the organization, as the host answers once it has them all."""
    await place_all(database, org_id)
    while True:
        with contextlib.suppress(FactsNotReady):
            [clicks] = await projections.ask(org_id, [CountClicks()])
            return int(clicks)


async def is_ready(projections: Projections, org_id: OrgId) -> bool:
    """Whether the organization's figures are told."""
    with contextlib.suppress(FactsNotReady):
        await projections.ask(org_id, [CountClicks()])
        return True
    return False


def files_with(folder: Path, erased: bytes) -> list[str]:
    """All files below the folder in whose bytes this is."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path.relative_to(folder)) for path in files if erased in path.read_bytes()]
