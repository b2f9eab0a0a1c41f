"""Answers to queries of analytics: rows of what was counted, in order, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import repeat
from typing import Any, NamedTuple

from backend.domain.analytics.measures import Shown
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Query
from backend.domain.ids import LinkId

# Decimals of a rate and of a shared count.
RATE_DIGITS = 6

# A row's values of the query's `group_by` fields, in their order; None for no value.
Group = tuple[str | None, ...]
Amounts = Mapping[str, Decimal]
Counts = Mapping[str, int | float]
# A number, an amount, or either by currency; None for a rate without clicks, and a change of nothing.
Value = int | float | Decimal | Amounts | Counts | None
Values = Mapping[Shown, Value]


class RowKind(StrEnum):
    """Rows apart from those of the values of a field (decisions, "words-of-reports")."""

    NOT_CREDITED = "not_credited"  # no touch gets the credit
    PURGED_LINKS = "purged_links"  # a link does that was deleted for good
    OTHER_VALUES = "other_values"  # of events that have other values than the most frequent ones

    @property
    def words(self) -> str:
        """What people call such a row."""
        return _KINDS_IN_WORDS[self]


_KINDS_IN_WORDS = {
    RowKind.NOT_CREDITED: "Not credited",
    RowKind.PURGED_LINKS: "Links deleted for good",
    RowKind.OTHER_VALUES: "Other values",
}


@dataclass(frozen=True, slots=True)
class NamedLink:
    """How people name a link that rows are of."""

    domain: str
    path: str
    link_name: str


class Row(NamedTuple):
    """The figures of one group, and those of the period that it is compared with, if there is one.

    `kind` tells rows apart that have none of the values of `group`. Of one that `is_partial`, only a part of
    its hour, day, week or month is there. `change` is that against `previous`, if the query asks for it.
    """

    group: Group
    values: Values
    previous: Values | None = None
    kind: RowKind | None = None
    is_partial: bool = False
    change: Values | None = None


# What rows show of measures, as columns.
ValueColumns = Mapping[Shown, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class RowsOfAnswer:
    """Some rows of an answer as columns, and the links that they are of: there may be very many rows.

    `groups` has a column for each field of the query's `group_by`, and `kinds`, `are_partial`, `values`,
    `previous` and `change` have what `Row` has.
    """

    groups: Sequence[Sequence[str | None]]
    kinds: Sequence[RowKind | None]
    are_partial: Sequence[bool]
    values: ValueColumns
    previous: ValueColumns | None = None
    change: ValueColumns | None = None
    links: Mapping[LinkId, NamedLink] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Row], links: Mapping[LinkId, NamedLink]) -> RowsOfAnswer:
        """These rows."""
        return cls(
            groups=list(zip(*(row.group for row in rows), strict=True)),
            kinds=[row.kind for row in rows],
            are_partial=[row.is_partial for row in rows],
            values=_columns_of([row.values for row in rows]) or {},
            previous=_columns_of([row.previous for row in rows if row.previous is not None]),
            change=_columns_of([row.change for row in rows if row.change is not None]),
            links=links,
        )

    @property
    def rows(self) -> list[Row]:
        """The rows."""
        size = len(self.kinds)
        groups: Iterable[Group] = zip(*self.groups, strict=True) if self.groups else repeat((), size)
        columns = (self.values, self.previous, self.change)
        values, previous, change = (values_of_rows(column_values, size) for column_values in columns)
        return list(map(Row, groups, values, previous, self.kinds, self.are_partial, change))


def _columns_of(rows: Sequence[Values]) -> ValueColumns | None:
    return {shown: [row[shown] for row in rows] for shown in rows[0]} if rows else None


def values_of_rows(columns: ValueColumns | None, size: int) -> Iterable[Any]:
    """The values of each of `size` rows; without columns, `columns` itself for each row."""
    if not columns:
        return repeat(columns, size)
    return (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


@dataclass(frozen=True, slots=True)
class AnalyticsAnswer:
    """Rows of one page, and the totals of all rows.

    `notes` are sentences for people: why rows and totals differ, and what is counted in a special way.
    `links` has the links that rows are of, if the query groups by link. `rows_in_all` counts those of all
    pages, and is None where rows come in pieces behind the answer; `previous_period` is the one that is
    compared with.
    """

    query: Query
    rows: Sequence[Row]
    totals: Row
    rows_in_all: int | None
    next_cursor: str | None
    notes: Sequence[str]
    previous_period: QueryPeriod | None = None
    links: Mapping[LinkId, NamedLink] = field(default_factory=dict)

    @property
    def rows_left_out(self) -> int | None:
        """How many rows are on other pages; None where rows come in pieces."""
        return None if self.rows_in_all is None else self.rows_in_all - len(self.rows)


def plain_count(count: int | Fraction) -> int | float:
    """A number of leads or conversions: a whole one, or with the fraction that shared credit gives it."""
    return int(count) if count == int(count) else round(float(count), RATE_DIGITS)
