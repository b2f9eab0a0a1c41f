"""Queries of analytics as questions (docs/decisions/analytics-query.md)."""

# What answers them is imported where that is done: those who ask have no use for it.
# ruff: noqa: PLC0415

from __future__ import annotations

from dataclasses import dataclass, replace

from backend.domain.analytics.answer import AnalyticsAnswer, Values
from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.funnels.answer import FunnelAnswer
from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.funnels.people import FunnelPart, FunnelPerson
from backend.domain.analytics.query import Query
from backend.domain.ids import LinkId
from backend.storage.analytics.question import Facts, Question


@dataclass(frozen=True, slots=True)
class AskQuery(Question[AnalyticsAnswer]):
    """What the facts say to a query: one page of rows, or all rows if it `is_whole`."""

    query: Query
    is_whole: bool = False

    def answer(self, facts: Facts) -> AnalyticsAnswer:
        """The answer. Raises InvalidField for a cursor of another query, or a property that is not marked."""
        from backend.storage.analytics.answers.query import answer_query

        check_marked(self.query.group_by, self.query.filters, facts.event_properties)
        days = facts.retention_days
        answer = answer_query(facts.connection, self.query, retention_days=days, is_whole=self.is_whole)
        return replace(answer, notes=[*facts.notes, *answer.notes])


@dataclass(frozen=True, slots=True)
class CountByLink(Question[dict[LinkId, Values]]):
    """What was counted of each link that something is counted for. The query groups by nothing but links."""

    query: Query

    def answer(self, facts: Facts) -> dict[LinkId, Values]:
        """The figures by link, in no order. Raises InvalidField."""
        from backend.storage.analytics.answers.query import values_by_link

        check_marked(self.query.group_by, self.query.filters, facts.event_properties)

        return values_by_link(facts.connection, self.query)


@dataclass(frozen=True, slots=True)
class AskFunnel(Question[FunnelAnswer]):
    """How far people got in a funnel (docs/decisions/funnels.md)."""

    query: FunnelQuery

    def answer(self, facts: Facts) -> FunnelAnswer:
        """The answer. Raises InvalidField for a property that is not marked."""
        from backend.storage.analytics.funnels.answer import answer_funnel

        self.query.funnel.check_marked(facts.event_properties)
        answer = answer_funnel(facts.connection, self.query, retention_days=facts.retention_days)
        return replace(answer, notes=[*facts.notes, *answer.notes])


@dataclass(frozen=True, slots=True)
class AskFunnelPeople(Question[tuple[list[FunnelPerson], int]]):
    """At most `most` of the people of a part of a funnel, behind `skipped` ones, and how many in all."""

    query: FunnelQuery
    part: FunnelPart
    most: int
    skipped: int = 0

    def answer(self, facts: Facts) -> tuple[list[FunnelPerson], int]:
        """The people, whose first step was last first. Raises InvalidField as AskFunnel does."""
        from backend.storage.analytics.funnels.singles import find_funnel_people

        self.query.funnel.check_marked(facts.event_properties)
        return find_funnel_people(facts.connection, self.query, self.part, self.most, self.skipped)
