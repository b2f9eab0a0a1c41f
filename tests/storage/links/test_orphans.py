"""How orphan visits are stored: each batch once, and whole."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, date, datetime

from backend.domain.domains.orphans import DayKey, DayTally, NotKept, OrphanBatch, PathTally
from backend.storage.driver.mongo import Database
from backend.storage.links.orphans import add_orphan_visits, find_orphans
from tests.between_commands import moments
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

AT = datetime(2026, 11, 26, tzinfo=UTC)
DAY, NEXT = date(2026, 11, 26), date(2026, 11, 27)


def a_day(visits: int) -> DayTally:
    """So many visits of one path, and one of a scanner."""
    return DayTally({"sprng": PathTally(visits, AT, Counter({"": visits}))}, Counter({NotKept.PROBE: 1}))


FIRST, SECOND = OrphanBatch("1", a_day(2)), OrphanBatch("2", a_day(3))


async def counted(database: Database, of: TestOrganization) -> tuple[list[tuple[str, int]], int]:
    """The paths with their visits, and the number of scanners' visits."""
    found = await find_orphans(database, of.id, of.domain, DAY, NEXT)
    return [(orphan.path, orphan.visits) for orphan in found.orphans], found.not_kept.get(NotKept.PROBE, 0)


async def test_a_batch_counts_once(database: Database, make_organization: OrganizationFactory) -> None:
    """However often it is stored, also side by side and between two commands of another batch; without losing
    that one."""
    number = 0
    async for moment in moments(database):
        organization, number = await make_organization(), number + 1
        key = organization.id, organization.domain, DAY

        async def others(key: DayKey = key) -> None:
            for batch in (FIRST, SECOND, FIRST):
                await add_orphan_visits(database, key, batch)

        await moment.interrupt(add_orphan_visits(moment.database, key, FIRST), others)
        await asyncio.gather(*(add_orphan_visits(database, key, FIRST) for _ in range(2)))
        expected = ([("sprng", 5)], 2) if moment.came else ([("sprng", 2)], 1)
        assert await counted(database, organization) == expected
    assert number > 2
