"""The single requests for links that a query counts, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.query import Query
from backend.domain.clicks.block import moment
from backend.domain.ids import LinkId
from backend.storage.analytics.question import Facts, Question


@dataclass(frozen=True, slots=True)
class SingleClick:
    """A request for a link. It counts if there is no `reason` against it; texts are None where not known."""

    at: datetime
    link_id: LinkId
    link_name: str | None
    reason: str | None
    outcome: str
    platform: str
    system: str | None
    browser: str | None
    country: str | None
    referrer: str | None
    variant: str | None


@dataclass(frozen=True, slots=True)
class ClickPageStart:
    """Where a page of single clicks begins: behind all later ones and `skipped` of this millisecond."""

    at: int
    skipped: int


@dataclass(frozen=True, slots=True)
class ClickPage:
    """Some single clicks, and where the next ones begin; None if there are no more."""

    clicks: Sequence[SingleClick]
    next_place: ClickPageStart | None


@dataclass(frozen=True, slots=True)
class SingleClicks(Question[ClickPage]):
    """At most `most` of the clicks, or of the requests that do not count, that a query's measures need.

    Days whose single clicks have expired have none.
    """

    query: Query
    most: int
    place: ClickPageStart | None = None

    def answer(self, facts: Facts) -> ClickPage:
        """The page. Raises InvalidField for a property that is not marked."""
        # Those who ask have no use for what answers.
        from backend.storage.analytics.conditions.moment_answers import execute_parsed  # noqa: PLC0415
        from backend.storage.analytics.conditions.queried_period import QueriedPeriod  # noqa: PLC0415
        from backend.storage.analytics.measures.clicks import single_clicks_of  # noqa: PLC0415

        check_marked(self.query.group_by, self.query.filters, facts.event_properties)
        period = QueriedPeriod.without_groups(facts.connection, self.query)
        statement = single_clicks_of(period, self.place.at if self.place else None)
        skipped = self.place.skipped if self.place else 0
        limits = {"most": self.most + 1, "skipped": skipped}
        rows = execute_parsed(facts.connection, statement.text, {**statement.values, **limits})
        return ClickPage([_click(*row) for row in rows[: self.most]], self._next(rows))

    def _next(self, rows: Sequence[tuple[int, ...]]) -> ClickPageStart | None:
        if len(rows) <= self.most:
            return None
        last = rows[self.most - 1][0]
        same = sum(row[0] == last for row in rows[: self.most])
        before = self.place.skipped if self.place and self.place.at == last else 0
        return ClickPageStart(last, before + same)


def _click(at: int, link_id: LinkId, link_name: str | None, *rest: str) -> SingleClick:
    reason, outcome, platform, system, browser, country, referrer, variant = rest
    return SingleClick(
        moment(at), link_id, link_name, reason, outcome, platform, system, browser, country, referrer,
        variant,
    )  # fmt: skip
