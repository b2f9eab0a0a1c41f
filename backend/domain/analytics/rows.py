"""Answers to queries of analytics as JSON, and as the cells of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum, auto
from typing import Any, NamedTuple

from backend.domain.analytics.answer import RATE_DIGITS, AnalyticsAnswer, NamedLink, Row, Value, Values
from backend.domain.analytics.figures import MORE_DIGITS
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import MONEY, RATES, ByCurrency, Field, Measure, Shown
from backend.domain.fields.money import minor_digits
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import Model
from backend.domain.web.short_urls import ShortUrlForm

Json = dict[str, Any]
Cell = str | None
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

    def cells_of(self, row: Row, links: Links | None = None) -> list[Cell]:
        """The row's cells, without a value where there is none. `links` as of `object_of`."""
        before = self._cells(row.previous) if row.previous is not None else []
        change = [_text(each) for each in (row.change or {}).values()]
        told = {KIND: row.kind, PARTIAL: "true" if row.is_partial else None}
        marks = [told[each] for each in self._marks]
        link = self._link_of(row, links).values()
        return [*row.group, *link, *marks, *self._cells(row.values), *before, *change]

    def csv(self) -> Iterator[str]:
        """The lines of a CSV file, headings first."""
        yield csv_line(self.headings())
        yield from self.csv_lines(self._answer.rows, self._answer.links)

    def csv_lines(self, rows: Iterable[Row], links: Links) -> Iterator[str]:
        """The lines of a CSV file for these rows, which are of these links."""
        return (csv_line(self.cells_of(each, links)) for each in rows)

    def json_lines(self) -> Iterator[str]:
        """A line of JSON for each row."""
        return self.lines_of_json(self._answer.rows, self._answer.links)

    def lines_of_json(self, rows: Iterable[Row], links: Links) -> Iterator[str]:
        """A line of JSON for each of these rows, which are of these links."""
        return (json.dumps(self.object_of(each, links), separators=(",", ":")) + "\n" for each in rows)

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
        link = known.get(LinkId(row.group[group.index(Field.LINK)] or ""))
        url = self._form.write(link.domain, link.path) if link else None
        return dict(zip(_LINK_COLUMNS, (link.link_name if link else None, url), strict=True))

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

    def _cells(self, values: Values) -> list[Cell]:
        cells: list[Cell] = []
        for shown, value in values.items():
            if self._is_by_currency(shown):
                amounts = value if isinstance(value, dict) else {}
                nothing = None if value is None else 0
                cells += [_text(amounts.get(each, nothing)) for each in self._currencies]
            else:
                cells.append(_text(value))
        return cells


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


def _text(value: Value) -> Cell:
    return None if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)


def _period_json(period: QueryPeriod) -> Json:
    start, end = (each.astimezone(period.zone).isoformat() for each in (period.start, period.end))
    return {"from": start, "to": end, "timezone": str(period.zone)}
