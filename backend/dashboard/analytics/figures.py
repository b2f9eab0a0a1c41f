"""The figures of a view: numbers of a period, how they changed, and their course."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from backend.dashboard.analytics.view import View
from backend.domain.analytics.answer import AnalyticsAnswer, Row, Value, Values
from backend.domain.analytics.changes import MeasureChange, Numeric, change_of, in_currency, shown_in
from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind, Unit
from backend.domain.analytics.period import Comparison, TimeField

_FORMS = {
    TimeField.HOUR: ("%Y-%m-%dT%H:%M%z", "%H:00"),
    TimeField.DAY: ("%Y-%m-%d", "%-d %b"),
    TimeField.WEEK: ("%Y-%m-%d", "Week of %-d %b"),
    TimeField.MONTH: ("%Y-%m", "%b %Y"),
}
# What the second line of a chart is called.
BEFORE = {Comparison.PREVIOUS: "Before", Comparison.YEAR: "A year before"}
_LARGE_AMOUNT = 10_000
_MINUS = "−"


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change as people read it: `way` is "up", "down" or "", and `before` the number that was."""

    text: str
    way: str
    before: str


@dataclass(frozen=True, slots=True)
class RowsBehind:
    """The page of what a number counts: its address, and what it is called."""

    words: str
    address: str


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure is called and what it counts, and the page of what it counts here, if there is one."""

    name: str
    label: str
    meaning: str
    rows: RowsBehind | None = None


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A number in a table: its column's label, its lines, and how it changed; `address` shows its rows."""

    label: str
    lines: Sequence[str]
    change: ShownChange | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the period. `change` is None where nothing is compared.

    `others` are amounts in other currencies than the one that is shown.
    """

    measure: Measure
    label: str
    text: str
    change: ShownChange | None
    course: Sequence[Numeric | None]
    others: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """A figure over time, as a chart shows it: `rows` oldest first, and which of them are not all there.

    A number that is not known is None.
    """

    title: str
    head: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Numeric | None]]]
    partial: Container[str] = ()


def currencies_of(view: View, totals: Values) -> list[str]:
    """The currency that is asked for, else all that there are, the one with the largest amount first.

    Those of revenue come before others of costs.
    """
    if view.currency:
        return [view.currency]
    found: list[str] = []
    for measure in (Measure.REVENUE, Measure.COST):
        amounts = totals.get(measure)
        if isinstance(amounts, Mapping):
            by_amount = sorted(amounts, key=lambda currency: (-amounts[currency], currency))
            found += [currency for currency in by_amount if currency not in found]
    return found or ["EUR"]


def figures(totals: AnalyticsAnswer, series: AnalyticsAnswer | None, currency: str) -> list[Figure]:
    """A figure for each measure of the totals, with its course if there is a series."""
    return [_figure(measure, totals.totals, series, currency) for measure in totals.query.measures]


def _figure(measure: Measure, total: Row, series: AnalyticsAnswer | None, currency: str) -> Figure:
    value = total.values[measure]
    others = sorted(value) if isinstance(value, Mapping) else []
    rows = series.rows if series and measure in series.query.measures else ()
    return Figure(
        measure,
        measure.label,
        text_of(measure, value, currency),
        shown_change(measure, total, currency),
        [plotted(measure, row.values, currency) for row in rows],
        [(other, text_of(measure, value, other)) for other in others if other != currency],
    )


def shown_change(measure: Measure, row: Row, currency: str) -> ShownChange | None:
    """How a number of a row changed, amounts in this currency; None where nothing is compared."""
    if row.previous is None:
        return None
    change = change_of(measure, row.values, row.previous, currency)
    before = text_of(measure, row.previous[measure], currency)
    if change is None:
        return ShownChange("", "", before)
    if not change.difference:
        return ShownChange("=", "", before) if change.before else None
    way = "up" if change.difference > 0 else "down"
    return ShownChange(_change_text(measure, change, currency), way, before)


def _change_text(measure: Measure, change: MeasureChange, currency: str) -> str:
    """A percentage, or the plain difference where the number before is too small for one, or it is 0 %."""
    if change.percent is not None and round(abs(change.percent)):
        return f"{abs(change.percent):,.0f} %"
    text = text_of(measure, _size(change.difference), currency).removesuffix(f" {currency}")
    if measure.unit is Unit.SHARE:
        text = f"{text.removesuffix(' %')} points"
    return f"{'+' if change.difference > 0 else _MINUS}{text}"


def _size(number: Numeric) -> Numeric:
    return -number if number < 0 else number


def cell_of(
    measure: Measure, row: Row, currencies: Sequence[str], address: str = "", *, divides_counts: bool = True
) -> FigureCell:
    """A row's number: amounts in all currencies, with the change of the first one that the row has.

    With `divides_counts`, conversions of several currencies are also shown by these.
    """
    amounts = [values[measure] for values in (row.values, row.previous) if values]
    used = [
        currency for currency in currencies if any(number(value, currency) for value in amounts)
    ] or currencies
    return FigureCell(
        label_in(measure, currencies),
        lines_in_row(measure, row.values, currencies)
        if divides_counts
        else lines_of(measure, row.values[measure], currencies),
        shown_change(measure, row, used[0] if measure.is_money else currencies[0]),
        # Where no cost was told, there is none to look at.
        "" if measure.kind is MeasureKind.COSTS and not row.values[measure] else address,
    )


def meanings_of(measures: Iterable[Measure]) -> list[tuple[str, str]]:
    """What each of these measures is called, and what it counts."""
    return [(measure.label, measure.meaning) for measure in measures]


def definitions_of(
    measures: Iterable[Measure], rows: Callable[[Measure], RowsBehind | None]
) -> dict[str, Definition]:
    """What each of these measures counts, and its rows as the function `rows` names them."""
    return {
        measure.value: Definition(measure.value, measure.label, measure.meaning, rows(measure))
        for measure in measures
    }


def course(measure: Measure, view: View, series: AnalyticsAnswer, currency: str) -> Course:
    """The measure over time, with the period that it is compared with."""
    label = measure.label + (f", {currency}" if measure.is_money else "")
    if measure.unit is Unit.SHARE:
        label += ", %"
    columns = [label] + ([BEFORE[view.comparison]] if view.comparison else [])
    rows = [
        (
            label_of(view.time_field, row.group[0]),
            [plotted(measure, values, currency) for values in _pair(row)],
        )
        for row in series.rows
    ]
    partial = {label_of(view.time_field, row.group[0]) for row in series.rows if row.is_partial}
    return Course(f"{label}, {view.words}", view.time_field.value.title(), columns, rows, partial)


def _pair(row: Row) -> list[Values]:
    return [row.values] + ([row.previous] if row.previous else [])


def plotted(measure: Measure, values: Values, currency: str) -> Numeric | None:
    """The value as a chart draws it: amounts in this currency, rates in percent.

    None where it is not known, as `shown_in` says.
    """
    value = shown_in(measure, values[measure], currency)
    return round(100 * float(value), 2) if value is not None and measure.unit is Unit.SHARE else value


def number(value: Value, currency: str) -> Numeric | None:
    """The value as a plain number: of amounts, the one in this currency; None for a rate without clicks."""
    return in_currency(value, currency)


def text_of(measure: Measure, value: Value, currency: str) -> str:
    """The value as people read it."""
    plain = shown_in(measure, value, currency)
    if plain is None:
        return "–"
    if measure.unit is Unit.SHARE:
        return f"{100 * plain:.2f} %"
    if measure.unit is Unit.RETURN:
        return f"{plain:,.2f}"
    if measure.unit is Unit.AMOUNT_PER_CLICK:
        return f"{plain:,.4f} {currency}"
    return f"{amount(plain)} {currency}" if measure.is_money else f"{plain:,}"


def lines_in_row(measure: Measure, values: Values, currencies: Sequence[str]) -> list[str]:
    """A row's value as `lines_of` shows it; conversions of several currencies also by these, behind all."""
    lines = lines_of(measure, values[measure], currencies)
    counts = values.get(ByCurrency.CONVERSIONS) if measure is Measure.CONVERSIONS else None
    if isinstance(counts, Mapping) and len(counts) > 1:
        lines += [f"{counts[currency]:,} in {currency}" for currency in currencies if currency in counts]
    return lines


def lines_of(measure: Measure, value: Value, currencies: Sequence[str]) -> list[str]:
    """The value as a table shows it: amounts of several currencies in a line each, with its name."""
    if not measure.is_money or len(currencies) == 1:
        return [text_of(measure, value, currencies[0]).removesuffix(f" {currencies[0]}")]
    amounts = value if isinstance(value, Mapping) else {}
    used = [currency for currency in currencies if amounts.get(currency)]
    # A return is a plain number: where there is one only, it needs no currency.
    behind = " in {}" if measure.unit is Unit.RETURN and len(used) > 1 else ""
    return [text_of(measure, value, currency) + behind.format(currency) for currency in used] or ["–"]


def label_in(measure: Measure, currencies: Sequence[str]) -> str:
    """The heading of such a column: with the currency, if there is one only."""
    has_one = measure.is_money and measure.unit is not Unit.RETURN and len(currencies) == 1
    return f"{measure.label}, {currencies[0]}" if has_one else measure.label


def amount(number: Numeric) -> str:
    """An amount of money, a large one without its decimals: files have it exactly."""
    return f"{number:,.2f}" if -_LARGE_AMOUNT < number < _LARGE_AMOUNT else f"{number:,.0f}"


def label_of(field: TimeField, label: str | None) -> str:
    """A part of the time as people read it."""
    read, written = _FORMS[field]
    if field is TimeField.DAY:
        return date.fromisoformat(label or "").strftime(written)
    return datetime.strptime(label or "", read).strftime(written)  # noqa: DTZ007 - shown as it is
