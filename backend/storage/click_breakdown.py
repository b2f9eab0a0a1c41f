"""The clicks of a link by platform, country and referrer, and the requests that did not count, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import OTHER, Dimension
from backend.storage.click_counts import count_values
from backend.storage.deadlines import deadline
from backend.storage.mongo import Database

_MOST_ROWS = 10
_PATIENCE = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class ClickShare:
    """The number of requests with this value. None as value means that it is not known.

    OTHER stands for values that are not counted one by one, since a day had too many (domain/rollup).
    """

    value: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The clicks of a link by several properties, most frequent values first."""

    platforms: list[ClickShare]
    countries: list[ClickShare]
    referrers: list[ClickShare]
    not_counted: list[ClickShare]


async def break_down_clicks(
    database: Database, link_id: LinkId, org_id: OrgId, now: datetime, days: int
) -> Breakdown:
    """The organization's clicks on a link on the last `days` days in UTC, today included.

    Raises StorageError after five seconds.
    """
    with deadline(_PATIENCE):
        found = await count_values(database, link_id, org_id, now, days)
    return Breakdown(
        platforms=_shares(found[Dimension.PLATFORM]),
        countries=_shares(found[Dimension.COUNTRY]),
        referrers=_shares(found[Dimension.REFERRER]),
        not_counted=_shares(found[Dimension.REASON]),
    )


def _shares(counts: Counter[str | None]) -> list[ClickShare]:
    """The largest first; those that are not told one by one come last."""
    largest = sorted(counts.items(), key=lambda each: (each[0] == OTHER, -each[1], each[0] or ""))
    return [ClickShare(value, count) for value, count in largest[:_MOST_ROWS]]
