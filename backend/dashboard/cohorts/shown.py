"""What pages show of the time to a sale, and of new and returning customers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import zip_longest

from backend.dashboard.analytics.figures import amount
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.durations import duration_words


@dataclass(frozen=True, slots=True)
class CustomerKind:
    """New or returning customers: their name, how many there are, and what they bought, in lines."""

    name: str
    meaning: str
    customers: str
    conversions: int
    revenue: Sequence[str]


def ends_of(took: TimeToSale) -> list[tuple[str, str]]:
    """By when half of the sales, and nine of ten, had come."""
    ends = (("Half of the sales came within", took.median), ("Nine of ten within", took.p90))
    return [(name, duration_words(timedelta(milliseconds=end))) for name, end in ends if end is not None]


def buckets_of(took: TimeToSale) -> list[tuple[str, list[int]]]:
    """The rows of the histogram."""
    return [(name, [count]) for name, count in zip(bucket_words(), took.counts, strict=True)]


def bucket_words() -> list[str]:
    """What the buckets of the histogram are called."""
    words = [
        f"{duration_words(begin)} or more"
        if end is None
        else f"{duration_words(begin)} to {duration_words(end)}"
        for begin, end in zip_longest(EDGES, EDGES[1:])
    ]
    return [f"under {duration_words(EDGES[1])}", *words[1:]]


def kinds_of(found: NewAndReturning) -> list[CustomerKind]:
    """New and returning customers; sales without a customer id too, if there are any."""
    known = [
        _kind("New", "Their first sale of all is in this time.", found.new),
        _kind("Returning", "They had bought before it.", found.returning),
    ]
    if not found.unknown.conversions:
        return known
    unknown = _kind("Unknown", "Sales without a customer id.", found.unknown)
    return [*known, replace(unknown, customers="–")]


def _kind(name: str, meaning: str, figures: SaleFigures) -> CustomerKind:
    amounts = [f"{amount(figures.revenue[currency])} {currency}" for currency in sorted(figures.revenue)] or [
        "–"
    ]
    return CustomerKind(name, meaning, f"{figures.customers:,}", figures.conversions, amounts)
