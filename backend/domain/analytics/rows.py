"""Answers to queries of analytics as JSON, and as the cells of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum, auto
from typing import Any, NamedTuple

from backend.domain.analytics.answer import (
    RATE_DIGITS,
    AnalyticsAnswer,
    NamedLink,
    Row,
    RowsOfAnswer,
    Value,
    ValueColumns,
    Values,
)
from backend.domain.analytics.figures import MORE_DIGITS
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import MONEY, RATES, ByCurrency, Field, Measure, Shown
from backend.domain.fields.money import minor_digits
from backend.domain.fields.spreadsheets import END_OF_LINE, csv_cell, csv_line
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import Model
from backend.domain.web.short_urls import ShortUrlForm

Json = dict[str, Any]
Cell = str | None
CellColumn = Sequence[Cell]
Links = Mapping[LinkId, NamedLink]
# What tells rows apart, beside what they are of.
KIND, PARTIAL = "kind", "partial"
# Without a currency, these are by currency.
_BY_CURRENCY: frozenset[Shown] = MONEY | frozenset(ByCurrency)
_LINK_COLUMNS = ("link_name", "short_url")
# Under which a sale may count for several touches, each for a part.
_DIVIDING = frozenset({Model.LINEAR, Model.POSITION_BASED})
_DIVIDED = frozenset({Measure.LEADS, Measure.CONVERSIONS, Measure.EVENTS})


class CellKind(Enum):
    """What the texts in a column stand for."""

    TEXT = auto()
    FLAG = auto()  # "true", or nothing
    DATE = auto()
    MONTH = auto()  # as 2026-03
    TIME = auto()  # in ISO 8601, with an offset
    COUNT = auto()
    NUMBER = auto()
    DECIMAL = auto()  # with as many decimals as the column's `digits`


class TypedColumn(NamedTuple):
    """A column of a table of rows."""

    name: str
    kind: CellKind = CellKind.TEXT
    digits: int = 0


_KINDS_OF_TIMES = {
    Field.DAY: CellKind.DATE,
    Field.WEEK: CellKind.DATE,
    Field.MONTH: CellKind.MONTH,
    Field.HOUR: CellKind.TIME,
}


class AnswerRows:
    """The rows of an answer, written one by one."""

    def __init__(self, answer: AnalyticsAnswer, form: ShortUrlForm) -> None:
        self._answer = answer
        self._form = form
        self._currencies = _currencies(answer)

    def whole(self) -> Json:
        """The answer of `POST /analytics/query`."""
        answer = self._answer
        previous = answer.previous_period
        return {
            "rows": [self.object_of(row) for row in answer.rows],
            "totals": self.totals(),
            "next_cursor": answer.next_cursor,
            "notes": list(answer.notes),
            "period": _period_json(answer.query.period),
            "previous_period": _period_json(previous) if previous else None,
        }

    def totals(self) -> Json:
        """What all rows come to."""
        return self._values_json(self._answer.totals)

    def object_of(self, row: Row, links: Links | None = None) -> Json:
        """A row as an object: what it is of, then its measures, then those of the period before.

        `links` are those that the row may be of, if they are not the answer's.
        """
        group = self._answer.query.group_by
        marks: Json = {KIND: row.kind} if row.kind else {}
        marks |= {PARTIAL: True} if row.is_partial else {}
        of = dict(zip(group, row.group, strict=True))
        return of | self._link_of(row, links) | marks | self._values_json(row)

    def columns(self) -> list[TypedColumn]:
        """The columns of a table; amounts and conversions have one for each currency."""
        query = self._answer.query
        groups = [TypedColumn(each, _KINDS_OF_TIMES.get(each, CellKind.TEXT)) for each in query.group_by]
        links = [TypedColumn(each) for each in _LINK_COLUMNS if Field.LINK in query.group_by]
        marks = [
            TypedColumn(each, CellKind.FLAG if each == PARTIAL else CellKind.TEXT) for each in self._marks
        ]
        measures = [column for each in query.shown for column in self._columns(each)]
        previous = [each._replace(name=f"previous_{each.name}") for each in measures if query.compare]
        change = [TypedColumn(f"change_{each}", CellKind.NUMBER) for each in query.measures if query.change]
        return [*groups, *links, *marks, *measures, *previous, *change]

    def headings(self) -> list[str]:
        """The names of the columns."""
        return [each.name for each in self.columns()]

    def cells_of(self, row: Row) -> list[Cell]:
        """The row's cells, without a value where there is none."""
        texts, numbers = self._cell_columns(RowsOfAnswer.of([row], self._answer.links))
        return [cell for [cell] in (*texts, *numbers)]

    def lines_of_cells(self, some: RowsOfAnswer) -> Iterator[tuple[Cell, ...]]:
        """The cells of each of these rows."""
        texts, numbers = self._cell_columns(some)
        return zip(*texts, *numbers, strict=True)

    def csv_heading(self) -> str:
        """The first line of a CSV file."""
        return csv_line(self.headings())

    def csv_lines(self, some: RowsOfAnswer) -> str:
        """The lines of a CSV file for these rows."""
        texts, numbers = self._cell_columns(some)
        columns = [*map(_quoted, texts), *([each or "" for each in column] for column in numbers)]
        return "".join([",".join(cells) + END_OF_LINE for cells in zip(*columns, strict=True)])

    def json_lines(self, some: RowsOfAnswer) -> str:
        """A line of JSON for each of these rows."""
        objects = (self.object_of(row, some.links) for row in some.rows)
        return "".join([json.dumps(each, separators=(",", ":")) + "\n" for each in objects])

    @property
    def _marks(self) -> list[str]:
        """The columns that tell rows apart: those that rows of such a query can have."""
        query = self._answer.query
        return [*([KIND] if query.has_kinds else []), *([PARTIAL] if query.time_field else [])]

    def _link_of(self, row: Row, links: Links | None) -> dict[str, Cell]:
        group = self._answer.query.group_by
        if Field.LINK not in group:
            return {}
        known = self._answer.links if links is None else links
        names = self._names_in(known, row.group[group.index(Field.LINK)])
        return dict(zip(_LINK_COLUMNS, names, strict=True))

    def _names_in(self, links: Links, value: str | None) -> tuple[Cell, Cell]:
        """The name and the short URL of the link with this id; None where it is not there."""
        link = links.get(LinkId(value or ""))
        return (link.link_name, self._form.write(link.domain, link.path)) if link else (None, None)

    def _values_json(self, row: Row) -> Json:
        before = {"previous": _numbers(row.previous)} if row.previous is not None else {}
        change = {"change": _numbers(row.change)} if row.change is not None else {}
        return _numbers(row.values) | before | change

    def _columns(self, shown: Shown) -> list[TypedColumn]:
        measure = shown.measure if isinstance(shown, ByCurrency) else shown
        if self._is_by_currency(shown):
            return [
                self._column(measure, each)._replace(name=f"{measure}_{each}") for each in self._currencies
            ]
        return [self._column(measure, self._answer.query.currency)]

    def _column(self, measure: Measure, currency: str | None) -> TypedColumn:
        if measure in MONEY:
            more = MORE_DIGITS if measure is Measure.REVENUE_PER_CLICK else 0
            return TypedColumn(measure, CellKind.DECIMAL, minor_digits(currency or "") + more)
        if measure in RATES or measure is Measure.CHANCE_OF_BEST:
            return TypedColumn(measure, CellKind.NUMBER)
        if measure in _DIVIDED and self._answer.query.rules.model in _DIVIDING:
            return TypedColumn(measure, CellKind.DECIMAL, RATE_DIGITS)
        return TypedColumn(measure, CellKind.COUNT)

    def _is_by_currency(self, shown: Shown) -> bool:
        return shown in _BY_CURRENCY and self._answer.query.currency is None

    def _cell_columns(self, some: RowsOfAnswer) -> tuple[list[CellColumn], list[CellColumn]]:
        """The columns of cells: first those of texts, then those of numbers."""
        if not some.kinds:
            return [], []
        told: dict[str, CellColumn] = {
            KIND: some.kinds,
            PARTIAL: ["true" if each else None for each in some.are_partial],
        }
        marks = [told[each] for each in self._marks]
        values = [*self._numbers_of(some.values), *self._numbers_of(some.previous or {})]
        change = [list(map(_text, column)) for column in (some.change or {}).values()]
        return [*some.groups, *self._links_of(some), *marks], [*values, *change]

    def _links_of(self, some: RowsOfAnswer) -> list[CellColumn]:
        """The columns that name links."""
        group = self._answer.query.group_by
        if Field.LINK not in group:
            return []
        ids = some.groups[group.index(Field.LINK)]
        return list(zip(*(self._names_in(some.links, each) for each in ids), strict=True))

    def _numbers_of(self, values: ValueColumns) -> list[CellColumn]:
        columns: list[CellColumn] = []
        for shown, column in values.items():
            if self._is_by_currency(shown):
                columns += [[_text(_in(value, each)) for value in column] for each in self._currencies]
            else:
                columns.append(list(map(_text, column)))
        return columns


def _currencies(answer: AnalyticsAnswer) -> list[str]:
    """Those of all amounts and conversions of the answer."""
    totals = [answer.totals.values, answer.totals.previous or {}]
    amounts = [values.get(each) for values in totals for each in _BY_CURRENCY]
    return sorted({name for each in amounts if isinstance(each, dict) for name in each})


def _numbers(values: Values) -> Json:
    return {shown: _number(value, shown) for shown, value in values.items()}


def _number(value: Value, shown: Shown) -> Any:
    if isinstance(value, Decimal):
        return f"{value:f}"
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(shown, ByCurrency):
        return [{"currency": name, shown.measure: count} for name, count in value.items()]
    return [{"currency": name, "amount": f"{amount:f}"} for name, amount in value.items()]


def _in(value: Value, currency: str) -> Value:
    """What an amount, or a number of conversions, is in the currency: 0 where others have some."""
    return value.get(currency, 0) if isinstance(value, Mapping) else value


def _quoted(column: CellColumn) -> list[str]:
    """The column as CSV has it. The same texts come again and again."""
    written = {each: csv_cell(each or "") for each in set(column)}
    return [written[each] for each in column]


def _text(value: Value) -> Cell:
    return None if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)


def _period_json(period: QueryPeriod) -> Json:
    start, end = (each.astimezone(period.zone).isoformat() for each in (period.start, period.end))
    return {"from": start, "to": end, "timezone": str(period.zone)}
