"""Cohorts: customers by the week of their first touch, and what they bought in the weeks after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from backend.domain.analytics.cohorts.sales import CreditedSale, SaleFigures, figures_of, first_sales
from backend.domain.analytics.period import QUARTER_SECONDS, QueryPeriod, Span, TimeField
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model

WEEK = timedelta(weeks=1)
DEFAULT_WEEKS, MOST_WEEKS = 12, 53
MOST_DAYS = 400


def cohort_rules(as_of: datetime | None = None) -> CreditRules:
    """The rules by which a customer's first touch is found: the first one of all their devices."""
    return CreditRules(CreditTo.CUSTOMER, Model.FIRST, as_of=as_of)


def check_cohorts(period: QueryPeriod) -> None:
    """Raise InvalidField, which names `from`, where a table would be too large."""
    period.check_days(MOST_DAYS)


@dataclass(frozen=True, slots=True)
class CohortWeek:
    """What a cohort bought in one week after the first touch. `is_partial`: it is not over for all of it."""

    figures: SaleFigures
    is_partial: bool


@dataclass(frozen=True, slots=True)
class Cohort:
    """The customers with their first touch in one week, which is named by its first day.

    `weeks` begin with the seven days from each customer's own first touch; weeks that have begun for nobody
    are left out. `is_partial`: the period has a part of the week only, or the week is not over.
    """

    label: str
    customers: int
    weeks: Sequence[CohortWeek]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class CohortTable:
    """The cohorts of a period, oldest first, also those without customers.

    `touchless` is how many customers bought for the first time in the period without any touch before, and
    `unknown` how many conversions of the period are of nobody who is known as a customer. `notes` are about
    the facts.
    """

    cohorts: Sequence[Cohort]
    touchless: int = 0
    unknown: int = 0
    currencies: Sequence[str] = field(default_factory=list)
    notes: Sequence[str] = ()

    @property
    def without_amounts(self) -> CohortTable:
        """The same without any amount."""
        return replace(
            self,
            currencies=[],
            cohorts=[
                replace(
                    cohort,
                    weeks=[replace(week, figures=week.figures.without_amounts) for week in cohort.weeks],
                )
                for cohort in self.cohorts
            ],
        )


def cohorts_of(
    sales: Iterable[CreditedSale], period: QueryPeriod, weeks: int, now: datetime, currency: str | None = None
) -> CohortTable:
    """The cohorts of these conversions: all that there are until `now`, credited by `cohort_rules`.

    A customer's first touch is the one that their first conversion is credited to, and filters go by it. With
    `currency`, weeks have conversions in it only.
    """
    known = [sale for sale in sales if sale.at < now]
    by_label, bought = defaultdict(set), defaultdict(list)
    firsts, spans = first_sales(known), period.spans(TimeField.WEEK)
    for customer_id, first in firsts.items():
        span = spans.at(_quarter(first.touched_at)) if first.touched_at and first.passes else None
        if span:
            by_label[span.label].add(customer_id)
    for sale in known:
        touched_at = firsts[sale.customer_id].touched_at if sale.customer_id else None
        if sale.customer_id and touched_at and currency in {None, sale.currency}:
            bought[sale.customer_id, (sale.at - touched_at) // WEEK].append(sale)
    partial = set(period.partial_labels(TimeField.WEEK, now))
    cohorts = [
        Cohort(
            span.label or "",
            len(customers := by_label[span.label]),
            [
                CohortWeek(
                    figures_of(sale for customer in customers for sale in bought.get((customer, number), ())),
                    is_partial=not is_over,
                )
                for number, is_over in enumerate(begun_weeks(span, weeks, now))
            ],
            span.label in partial,
        )
        for span in spans
    ]
    return CohortTable(
        cohorts,
        sum(
            first.touched_at is None and first.passes and period.start <= first.at < period.end
            for first in firsts.values()
        ),
        sum(sale.customer_id is None and period.start <= sale.at < period.end for sale in known),
        sorted({name for cohort in cohorts for week in cohort.weeks for name in week.figures.revenue}),
    )


def begun_weeks(span: Span, weeks: int, now: datetime) -> list[bool]:
    """Of the weeks after a first touch in this span, those that have begun for anybody: whether each is over
    for everybody."""
    since, last = (now.timestamp() - quarter * QUARTER_SECONDS for quarter in (span.first, span.end))
    length = WEEK.total_seconds()
    return [last >= (number + 1) * length for number in range(weeks) if since > number * length]


def _quarter(at: datetime) -> int:
    return int(at.timestamp()) // QUARTER_SECONDS
