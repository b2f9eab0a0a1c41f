"""The clicks of a link by platform, country and referring site, and by reason those that did not count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from backend.domain.ids import LinkId
from backend.storage.analytics.conditions.referring_sites import site_in_sql
from backend.storage.analytics.question import Facts, Question

_MOST_VALUES = 10
_QUERY = """
SELECT {shown} AS shown, sum(clicks)::BIGINT AS clicks FROM (
    SELECT {field}, sum(weight) AS clicks FROM clicks
    WHERE link IN (SELECT link FROM links WHERE id = $link) AND "at" >= $start AND reason IS {is_counted}
    GROUP BY ALL
) AS counted
GROUP BY ALL ORDER BY clicks DESC, shown NULLS FIRST LIMIT {most}
"""


@dataclass(frozen=True, slots=True)
class ClickShare:
    """The number of requests with this value. None as value means that it is not known."""

    value: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The clicks of a link by several properties, most frequent values first."""

    platforms: list[ClickShare]
    countries: list[ClickShare]
    sites: list[ClickShare]
    outcomes: list[ClickShare]
    not_counted: list[ClickShare]


@dataclass(frozen=True, slots=True)
class ClickBreakdown(Question[Breakdown]):
    """What the requests for a link were on the last `days` days in UTC, today included."""

    link_id: LinkId
    now: datetime
    days: int

    def answer(self, facts: Facts) -> Breakdown:
        """The breakdown."""
        return Breakdown(
            platforms=self._shares(facts, "platform"),
            countries=self._shares(facts, "country"),
            sites=self._shares(facts, "referrer", site_in_sql("counted.referrer")),
            outcomes=self._shares(facts, "outcome"),
            not_counted=self._shares(facts, "reason"),
        )

    def _shares(self, facts: Facts, field: str, shown: str | None = None) -> list[ClickShare]:
        first = self.now.astimezone(UTC).date() - timedelta(days=self.days - 1)
        start = int(datetime.combine(first, time(), UTC).timestamp()) * 1000
        is_counted = "NOT NULL" if field == "reason" else "NULL"
        query = _QUERY.format(shown=shown or field, field=field, is_counted=is_counted, most=_MOST_VALUES)
        rows = facts.connection.execute(query, {"link": self.link_id, "start": start})
        return [ClickShare(*row) for row in rows.fetchall()]
