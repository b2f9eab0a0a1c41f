"""Cohorts, the time to a sale, and new and returning customers, as questions, and what they count."""

# What answers them is imported where that is done: those who ask have no use for it.
# ruff: noqa: PLC0415

from __future__ import annotations

from dataclasses import dataclass, replace

from backend.domain.analytics.cohorts.cohorts import CohortTable
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.parts import CustomerRow, SoldPart, SoldRow
from backend.domain.analytics.cohorts.time_to_sale import TimeToSale
from backend.domain.analytics.query import Query
from backend.storage.analytics.question import Facts, Question


@dataclass(frozen=True, slots=True)
class AskCohorts(Question[CohortTable]):
    """The cohorts of a query's period, with so many weeks after the first touch."""

    query: Query
    weeks: int

    def answer(self, facts: Facts) -> CohortTable:
        """The table."""
        from backend.storage.analytics.cohorts.cohorts import find_cohorts

        table = find_cohorts(facts.connection, self.query, self.weeks, facts.now)
        return replace(table, notes=facts.notes)


@dataclass(frozen=True, slots=True)
class AskTimeToSale(Question[TimeToSale]):
    """How long it took from a click to the sales of a query's period."""

    query: Query

    def answer(self, facts: Facts) -> TimeToSale:
        """The distribution."""
        from backend.storage.analytics.cohorts.customers import find_time_to_sale

        return find_time_to_sale(facts.connection, self.query)


@dataclass(frozen=True, slots=True)
class AskNewAndReturning(Question[NewAndReturning]):
    """Who bought in a query's period, for the first time or again."""

    query: Query

    def answer(self, facts: Facts) -> NewAndReturning:
        """Their figures."""
        from backend.storage.analytics.cohorts.customers import find_new_and_returning

        return find_new_and_returning(facts.connection, self.query)


@dataclass(frozen=True, slots=True)
class AskSold(Question[tuple[list[SoldRow], int]]):
    """At most `most` of the sales of a part, behind `skipped` ones, and how many there are in all."""

    query: Query
    part: SoldPart
    most: int
    skipped: int = 0

    def answer(self, facts: Facts) -> tuple[list[SoldRow], int]:
        """The sales, the newest first."""
        from backend.storage.analytics.cohorts.singles import Slice, find_sold

        rows = Slice(self.most, self.skipped)
        return find_sold(facts.connection, self.query, self.part, rows, facts.now)


@dataclass(frozen=True, slots=True)
class AskCustomers(Question[tuple[list[CustomerRow], int]]):
    """At most `most` of the customers of a part, behind `skipped` ones, and how many there are in all."""

    query: Query
    part: SoldPart
    most: int
    skipped: int = 0

    def answer(self, facts: Facts) -> tuple[list[CustomerRow], int]:
        """The customers, who bought last first."""
        from backend.storage.analytics.cohorts.singles import Slice, find_customers

        rows = Slice(self.most, self.skipped)
        return find_customers(facts.connection, self.query, self.part, rows, facts.now)
