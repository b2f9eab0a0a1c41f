"""Customers over time as answers show them."""

from __future__ import annotations

from datetime import timedelta
from itertools import zip_longest
from typing import Any

from backend.domain.analytics.cohorts.cohorts import Cohort, CohortTable
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.sales import Amounts, SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.fields.money import minor_digits

Json = dict[str, Any]


def cohorts_json(table: CohortTable) -> Json:
    """The cohorts, oldest first, and notes about the facts and who is in none."""
    return {"cohorts": [_cohort_json(cohort) for cohort in table.cohorts], "notes": cohort_notes(table)}


def cohort_notes(table: CohortTable) -> list[str]:
    """Sentences about the facts, and about what is in no cohort."""
    notes = [*table.notes]
    if table.touchless:
        who = "1 customer" if table.touchless == 1 else f"{table.touchless:,} customers"
        notes.append(f"{who} bought for the first time without any touch before, and are in no cohort.")
    if table.unknown:
        what = "1 conversion" if table.unknown == 1 else f"{table.unknown:,} conversions"
        notes.append(f"{what} without a customer id: nobody knows whose first one that was.")
    return notes


def time_to_sale_json(found: TimeToSale) -> Json:
    """The distribution, in seconds. The last bucket has no end."""
    seconds = [int(edge / timedelta(seconds=1)) for edge in EDGES]
    return {
        "conversions": found.conversions,
        "median_seconds": _seconds(found.median),
        "p90_seconds": _seconds(found.p90),
        "buckets": [
            {"from_seconds": begin, "to_seconds": end, "conversions": count}
            for begin, end, count in zip_longest(seconds, seconds[1:], found.counts)
        ],
        "not_credited": found.untouched,
    }


def new_and_returning_json(found: NewAndReturning) -> Json:
    """The figures of both, and of those whom nobody knows."""
    return {
        "new": _figures_json(found.new),
        "returning": _figures_json(found.returning),
        "unknown": _figures_json(found.unknown),
    }


def _cohort_json(cohort: Cohort) -> Json:
    return {
        "week": cohort.label,
        "customers": cohort.customers,
        "partial": cohort.is_partial,
        "weeks": [
            {"week": number, "partial": week.is_partial, **_figures_json(week.figures)}
            for number, week in enumerate(cohort.weeks)
        ],
    }


def _figures_json(figures: SaleFigures) -> Json:
    return {
        "customers": figures.customers,
        "conversions": figures.conversions,
        "revenue": amounts_json(figures.revenue),
        "refunds": amounts_json(figures.refunds),
        "net_revenue": amounts_json(figures.net_revenue),
    }


def amounts_json(amounts: Amounts) -> list[Json]:
    """Amounts by currency, each with at least the decimals of its currency."""
    return [{"currency": name, "amount": amount_text(amounts, name)} for name in sorted(amounts)]


def amounts_in_words(amounts: Amounts) -> str:
    """Amounts in one line, such as 12.00 EUR, 5.00 USD; "0" without any."""
    return ", ".join(f"{amount_text(amounts, name)} {name}" for name in sorted(amounts)) or "0"


def amount_text(amounts: Amounts, currency: str) -> str:
    """The amount in this currency as a decimal text."""
    amount = amounts[currency]
    exponent = amount.as_tuple().exponent
    digits = max(minor_digits(currency), -exponent if isinstance(exponent, int) else 0)
    return f"{amount:.{digits}f}"


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
