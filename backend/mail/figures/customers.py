"""What a mail shows of a report of cohorts: who bought in the last week or month, first or again.

A table of cohorts is about many weeks and stands on the report's page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from backend.domain.analytics.answer import Values
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import TimeToSale
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query
from backend.domain.mail.language import Language
from backend.mail.figures.mailed import MailedReport, MailFigure, MailRow, MailSection, compared_in
from backend.mail.numbers import change_in_words, duration_in, lines_of, period_in
from backend.mail.texts import sections_in, text_in


@dataclass(frozen=True, slots=True)
class MailedCustomers:
    """Who bought in the time of a mail, who did in the time before, and how long it took to the sales."""

    kinds: NewAndReturning
    before: NewAndReturning
    took: TimeToSale


def mailed_customers(
    found: MailedCustomers, query: Query, before: Query, language: Language, *, shows_revenue: bool
) -> MailedReport:
    """What a mail shows of the answers to both queries."""
    pairs = {
        name: (getattr(found.kinds, name), getattr(found.before, name))
        for name in ("new", "returning", "unknown")
    }
    measures = [Measure.CUSTOMERS, Measure.CONVERSIONS, *([Measure.REVENUE] if shows_revenue else [])]
    rows = [
        MailRow(
            text_in(language, "customers", name),
            [
                _figure(measure, now, was, language)
                for measure in measures
                if name != "unknown" or measure is not Measure.CUSTOMERS
            ],
        )
        for name, (now, was) in pairs.items()
        if name != "unknown" or now.conversions
    ]
    return MailedReport(
        period=period_in(language, query.period),
        compared=compared_in(language, before.period),
        zone=str(query.period.zone),
        totals=[*_totals(found, measures, language), *_times(found.took, language)],
        sections=[MailSection(text_in(language, "customers", "who"), rows)],
    )


def _totals(found: MailedCustomers, measures: list[Measure], language: Language) -> list[MailFigure]:
    now, was = _all(found.kinds), _all(found.before)
    return [_figure(measure, now, was, language) for measure in measures]


def _all(kinds: NewAndReturning) -> SaleFigures:
    """What everybody bought; a customer is new or returning, and never both."""
    parts = (kinds.new, kinds.returning, kinds.unknown)
    currencies = {currency for part in parts for currency in part.revenue}
    revenue = {
        currency: sum((part.revenue.get(currency, Decimal()) for part in parts), Decimal())
        for currency in currencies
    }
    return SaleFigures(
        kinds.new.customers + kinds.returning.customers,
        sum(part.conversions for part in parts),
        revenue,
    )


def _figure(measure: Measure, now: SaleFigures, was: SaleFigures, language: Language) -> MailFigure:
    values, before = _values(now), _values(was)
    return MailFigure(
        sections_in(language)["measures"][measure.value],
        lines_of(measure, values[measure], None, language),
        change_in_words(measure, values, before, None, language),
    )


def _values(figures: SaleFigures) -> Values:
    return {
        Measure.CUSTOMERS: figures.customers,
        Measure.CONVERSIONS: figures.conversions,
        Measure.REVENUE: figures.revenue,
    }


def _times(took: TimeToSale, language: Language) -> list[MailFigure]:
    """Within which time half of the sales came."""
    if took.median is None:
        return []
    half = duration_in(language, timedelta(milliseconds=took.median))
    return [MailFigure(text_in(language, "customers", "half"), [half])]
