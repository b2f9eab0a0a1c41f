"""The clicks of links in total and in the last 30 and 7 days (contract, "Click analytics object")."""

# ruff: noqa: S608 - names of columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from datetime import datetime

from backend.domain.ids import LinkId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.window_counts import NO_CLICKS, WindowCounts, starts_of_windows
from backend.storage.analytics.question import Facts, Question

_COUNTS = """
SELECT link, sum(weight)::BIGINT,
    coalesce(sum(weight) FILTER ("at" >= $long), 0)::BIGINT,
    coalesce(sum(weight) FILTER ("at" >= $short), 0)::BIGINT
FROM clicks WHERE reason IS NULL AND
"""


@dataclass(frozen=True, slots=True)
class ClickWindows(Question[dict[LinkId, WindowCounts]]):
    """How often links were clicked until `now`, by link id. Those without clicks are left out.

    The second in which a window starts is in it.
    """

    link_ids: Sequence[LinkId]
    now: datetime

    def answer(self, facts: Facts) -> dict[LinkId, WindowCounts]:
        """The counts by link."""
        long, short = (int(start.timestamp()) * 1000 for start in starts_of_windows(self.now))
        execute = facts.connection.execute
        # The numbers first: of a file with millions of clicks, most parts have none of a link.
        numbers = f"SELECT link, id FROM links WHERE {_is_among('id', self.link_ids)}"
        ids = dict(execute(numbers, {"among": list(self.link_ids)}).fetchall())
        counts = f"{_COUNTS} {_is_among('link', ids)} GROUP BY link"
        counted = execute(counts, {"among": list(ids), "long": long, "short": short}).fetchall()
        return {LinkId(ids[link]): WindowCounts(*counts) for link, *counts in counted}


def _is_among(column: str, values: Sized) -> str:
    """SQL: whether the column is one of the parameter `among`, which has these values.

    One link is asked for most, and DuckDB plans a comparison in half the time.
    """
    return f"{column} = $among[1]" if len(values) == 1 else f"{column} IN (SELECT unnest($among))"


@dataclass(frozen=True, slots=True)
class ClickWindow(Question[WindowCounts]):
    """As `ClickWindows`, of one link."""

    link_id: LinkId
    now: datetime

    def answer(self, facts: Facts) -> WindowCounts:
        """The link's counts."""
        return ClickWindows([self.link_id], self.now).answer(facts).get(self.link_id, NO_CLICKS)


@dataclass(frozen=True, slots=True)
class ClicksOfLinks(Question[dict[LinkId, int]]):
    """The clicks of each link from `start` until `end`, which is not included; None: until now.

    Links without clicks are left out. Links that were deleted for good may be among them.
    """

    start: datetime
    end: datetime | None = None

    def answer(self, facts: Facts) -> dict[LinkId, int]:
        """The clicks by link."""
        rows = facts.connection.execute(
            """
            SELECT links.id, counted.clicks FROM (
                SELECT link, sum(weight)::BIGINT AS clicks FROM clicks
                WHERE reason IS NULL AND "at" >= $start AND ($end IS NULL OR "at" < $end) GROUP BY link
            ) AS counted JOIN links USING (link)
            """,
            {"start": _milliseconds(self.start), "end": self.end and _milliseconds(self.end)},
        )
        return {LinkId(link_id): clicks for link_id, clicks in rows.fetchall()}


@dataclass(frozen=True, slots=True)
class ClickOpens(Question[dict[LinkId, tuple[int, int]]]):
    """How often links were clicked, and how many of these clicks were opens of apps; without other links."""

    link_ids: Sequence[LinkId]

    def answer(self, facts: Facts) -> dict[LinkId, tuple[int, int]]:
        """The two numbers by link."""
        rows = facts.connection.execute(
            """
            SELECT id, sum(weight)::BIGINT, coalesce(sum(weight) FILTER (outcome = $app), 0)::BIGINT
            FROM clicks JOIN links USING (link)
            WHERE reason IS NULL AND id IN (SELECT unnest($ids::VARCHAR[])) GROUP BY id
            """,
            {"ids": list(self.link_ids), "app": Outcome.APP.value},
        )
        return {LinkId(link_id): (clicks, opens) for link_id, clicks, opens in rows.fetchall()}


@dataclass(frozen=True, slots=True)
class HasClicks(Question[bool]):
    """Whether a link was ever asked for, counted or not."""

    link_id: LinkId

    def answer(self, facts: Facts) -> bool:
        """Whether there is a click."""
        click = facts.connection.execute(
            "SELECT 1 FROM clicks JOIN links USING (link) WHERE reason IS NULL AND id = $id LIMIT 1",
            {"id": self.link_id},
        )
        return click.fetchone() is not None


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)
