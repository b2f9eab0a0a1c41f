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
from backend.domain.analytics.changes import shown_in
from backend.domain.analytics.figures import MORE_DIGITS
from backend.domain.analytics.measures import ByCurrency, Measure, Shown, Unit
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field
from backend.domain.fields.money import minor_digits
from backend.domain.fields.spreadsheets import csv_cell, csv_line, line_of_written
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
_BY_CURRENCY: frozenset[Shown] = frozenset([*filter(lambda measure: measure.is_money, Measure), *ByCurrency])
_LINK_COLUMNS = ("link_name", "short_url")
# The models by which a sale may be divided between several touches.
_DIVIDING = frozenset({Model.LINEAR, Model.POSITION_BASED})


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


_KINDS_OF_TIMES: Mapping[str, CellKind] = {
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
        """The columns of a table; amounts and conversions have one for each currency.

        Where nothing is in any currency, an amount has one column without a value: a table without columns is
        none, and Parquet has no such file.
        """
        query = self._answer.query
        groups = [TypedColumn(field, _KINDS_OF_TIMES.get(field, CellKind.TEXT)) for field in query.group_by]
        links = [TypedColumn(name) for name in _LINK_COLUMNS if Field.LINK in query.group_by]
        marks = [
            TypedColumn(mark, CellKind.FLAG if mark == PARTIAL else CellKind.TEXT) for mark in self._marks
        ]
        measures = [column for shown in query.shown for column in self._columns(shown)]
        previous = [column._replace(name=f"previous_{column.name}") for column in measures if query.compare]
        change = [
            TypedColumn(f"change_{measure}", CellKind.NUMBER) for measure in query.measures if query.change
        ]
        return [*groups, *links, *marks, *measures, *previous, *change]

    def headings(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns()]

    def cells_of(self, row: Row) -> list[Cell]:
        """The row's cells, without a value where there is none."""
        texts, numbers = self._cell_columns(RowsOfAnswer.of([row], self._answer.links))
        return [cell for [cell] in (*texts, *numbers)]

    def lines_of_cells(self, rows: RowsOfAnswer) -> Iterator[tuple[Cell, ...]]:
        """The cells of each of these rows."""
        texts, numbers = self._cell_columns(rows)
        return zip(*texts, *numbers, strict=True)

    def csv_heading(self) -> str:
        """The first line of a CSV file."""
        return csv_line(self.headings())

    def csv_lines(self, rows: RowsOfAnswer) -> str:
        """The lines of a CSV file for these rows."""
        texts, numbers = self._cell_columns(rows)
        columns = [*map(_quoted, texts), *([cell or "" for cell in column] for column in numbers)]
        return "".join(map(line_of_written, zip(*columns, strict=True)))

    def json_lines(self, rows: RowsOfAnswer) -> str:
        """A line of JSON for each of these rows."""
        objects = (self.object_of(row, rows.links) for row in rows.rows)
        return "".join([json.dumps(row, separators=(",", ":")) + "\n" for row in objects])

    @property
    def _marks(self) -> list[str]:
        """The columns that tell rows apart: those that rows of such a query can have."""
        query = self._answer.query
        return [*([KIND] if query.has_kinds else []), *([PARTIAL] if query.time_field else [])]

    def _link_of(self, row: Row, links: Links | None) -> dict[str, Cell]:
        group = self._answer.query.group_by
        if Field.LINK not in group:
            return {}
        all_links = self._answer.links if links is None else links
        names = self._names_in(all_links, row.group[group.index(Field.LINK)])
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
        if self._is_by_currency(shown) and self._currencies:
            return [
                self._column(measure, currency)._replace(name=f"{measure}_{currency}")
                for currency in self._currencies
            ]
        return [] if isinstance(shown, ByCurrency) else [self._column(measure, self._answer.query.currency)]

    def _column(self, measure: Measure, currency: str | None) -> TypedColumn:
        if measure.unit in {Unit.RETURN, Unit.SHARE}:
            return TypedColumn(measure, CellKind.NUMBER)
        if measure.is_money:
            more = MORE_DIGITS if measure.unit is Unit.AMOUNT_PER_CLICK else 0
            return TypedColumn(measure, CellKind.DECIMAL, minor_digits(currency or "") + more)
        if measure.unit is Unit.CREDIT and self._answer.query.rules.model in _DIVIDING:
            return TypedColumn(measure, CellKind.DECIMAL, RATE_DIGITS)
        return TypedColumn(measure, CellKind.COUNT)

    def _is_by_currency(self, shown: Shown) -> bool:
        return shown in _BY_CURRENCY and self._answer.query.currency is None

    def _cell_columns(self, rows: RowsOfAnswer) -> tuple[list[CellColumn], list[CellColumn]]:
        """The columns of cells: first those of texts, then those of numbers."""
        if not rows.kinds:
            return [], []
        columns: dict[str, CellColumn] = {
            KIND: rows.kinds,
            PARTIAL: ["true" if is_partial else None for is_partial in rows.are_partial],
        }
        marks = [columns[mark] for mark in self._marks]
        values = [*self._numbers_of(rows.values), *self._numbers_of(rows.previous or {})]
        change = [list(map(_text, column)) for column in (rows.change or {}).values()]
        return [*rows.groups, *self._links_of(rows), *marks], [*values, *change]

    def _links_of(self, rows: RowsOfAnswer) -> list[CellColumn]:
        """The columns that name links."""
        group = self._answer.query.group_by
        if Field.LINK not in group:
            return []
        ids = rows.groups[group.index(Field.LINK)]
        return list(zip(*(self._names_in(rows.links, link_id) for link_id in ids), strict=True))

    def _numbers_of(self, values: ValueColumns) -> list[CellColumn]:
        columns: list[CellColumn] = []
        for shown, column in values.items():
            if self._is_by_currency(shown):
                columns += self._by_currency(shown, column)
            else:
                columns.append(list(map(_text, column)))
        return columns

    def _by_currency(self, shown: Shown, values: Sequence[Value]) -> list[CellColumn]:
        if not self._currencies and isinstance(shown, Measure):
            return [[None] * len(values)]
        return [
            [_text(shown_in(shown, value, currency)) for value in values] for currency in self._currencies
        ]


def _currencies(answer: AnalyticsAnswer) -> list[str]:
    """The currencies of all amounts and conversions of the answer, sorted."""
    totals = [answer.totals.values, answer.totals.previous or {}]
    amounts = [values.get(shown) for values in totals for shown in _BY_CURRENCY]
    return sorted({name for by_currency in amounts if isinstance(by_currency, dict) for name in by_currency})


def _numbers(values: Values) -> Json:
    return {shown: _number(value, shown) for shown, value in values.items()}


def _number(value: Value, shown: Shown) -> Any:
    if isinstance(value, Decimal):
        return f"{value:f}"
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(shown, ByCurrency):
        return [{"currency": name, shown.measure: count} for name, count in value.items()]
    if shown.unit is Unit.RETURN:
        return [{"currency": name, shown: share} for name, share in value.items()]
    return [{"currency": name, "amount": f"{amount:f}"} for name, amount in value.items()]


def _quoted(column: CellColumn) -> list[str]:
    """The column as CSV has it. The same texts come again and again."""
    written = {cell: csv_cell(cell or "") for cell in set(column)}
    return [written[cell] for cell in column]


def _text(value: Value) -> Cell:
    return None if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)


def _period_json(period: QueryPeriod) -> Json:
    start, end = (at.astimezone(period.zone).isoformat() for at in (period.start, period.end))
    return {"from": start, "to": end, "timezone": str(period.zone)}
