"""Counts stored clicks that the analytics columns lack, since their blocks are damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.clicks.rows import Selection
from backend.domain.ids import OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import Facts, Question
from backend.storage.clicks.blocks import Part
from backend.storage.clicks.single_clicks import find_unreadable_parts
from backend.storage.driver.mongo import Database

_MISSING = """
    SELECT coalesce(sum(clicks), 0)::BIGINT
    FROM (SELECT unnest($ids::VARCHAR[]) AS id, unnest($clicks::BIGINT[]) AS clicks)
    ANTI JOIN blocks USING (id)
"""


async def count_missing(database: Database, analytics: Analytics, org_id: OrgId, selection: Selection) -> int:
    """How many requests of this time, for all links, are missing in the columns.

    The clicks of a block that was damaged after they were in the columns are not missing.
    """
    parts = await find_unreadable_parts(database, org_id, selection)
    return await analytics.ask(org_id, CountMissing(parts)) if parts else 0


@dataclass(frozen=True, slots=True)
class CountMissing(Question[int]):
    """Asks how many clicks of these blocks are not in the columns."""

    parts: Sequence[Part]

    def answer(self, facts: Facts) -> int:
        """The number of missing clicks."""
        values = {"ids": [part.id for part in self.parts], "clicks": [part.clicks for part in self.parts]}
        [(clicks,)] = facts.connection.execute(_MISSING, values).fetchall()
        return int(clicks)
