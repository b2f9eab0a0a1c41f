"""What the page of a report shows of the answer to its query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.dashboard.analytics.figures import (
    LABELS,
    Course,
    FigureCell,
    label_in,
    label_of,
    lines_of,
    number,
    shown_change,
)
from backend.dashboard.analytics.tables import name_of
from backend.dashboard.analytics.view import period_in_words
from backend.dashboard.shared.filter_words import field_name
from backend.domain.analytics.answer import AnalyticsAnswer, Row, Values
from backend.domain.analytics.changes import Numeric
from backend.domain.analytics.measure_words import MEANINGS
from backend.domain.analytics.period import Comparison
from backend.domain.analytics.query import MONEY, RATES, TIMES, Measure

_BEFORE = {Comparison.PREVIOUS: "Before", Comparison.YEAR: "A year before"}


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row: the names of what it is of, each with the label of its column, and its numbers."""

    names: Sequence[tuple[str, str]]
    cells: Sequence[FigureCell]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class ShownTotal:
    """What all rows come to in one measure; `course` is how that came about, where rows are of the time."""

    cell: FigureCell
    course: Sequence[Numeric] = ()


@dataclass(frozen=True, slots=True)
class ShownReport:
    """The parts of the page. `groups` and `measures` are the headings of the table."""

    period: str
    zone: str
    compared: str
    totals: Sequence[ShownTotal]
    course: Course | None
    groups: Sequence[str]
    measures: Sequence[str]
    rows: Sequence[ShownRow]
    left_out: int
    notes: Sequence[str]
    words: Sequence[tuple[str, str]]


def shown_report(answer: AnalyticsAnswer) -> ShownReport:
    """What a page shows of the answer."""
    query = answer.query
    part = _Part(answer, _currencies(answer))
    return ShownReport(
        period=period_in_words(query.period),
        zone=str(query.period.zone),
        compared=period_in_words(answer.previous_period) if answer.previous_period else "",
        totals=part.totals(),
        course=part.course() if part.is_course else None,
        groups=[field_name(by) for by in query.group_by],
        measures=[part.label(measure) for measure in query.measures],
        rows=[part.row(row) for row in answer.rows] if query.group_by else [],
        left_out=answer.rows_left_out or 0,
        notes=answer.notes,
        words=[(measure_name(measure), MEANINGS[measure]) for measure in query.measures],
    )


def measure_name(measure: Measure) -> str:
    """What people call a measure."""
    return LABELS.get(measure) or measure.value.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class _Part:
    """The answer, with amounts in these currencies."""

    answer: AnalyticsAnswer
    currencies: Sequence[str]

    @property
    def is_course(self) -> bool:
        """Whether each row is of another part of the time, so that rows can be drawn as a line."""
        [*by] = self.answer.query.group_by
        return len(by) == 1 and by[0] in TIMES and len(self.answer.rows) > 1

    def label(self, measure: Measure) -> str:
        return label_in(measure, self.currencies) if measure in MONEY else measure_name(measure)

    def totals(self) -> list[ShownTotal]:
        rows = self._by_time(self.answer.rows) if self.is_course else ()
        return [
            ShownTotal(
                self._cell(measure, self.answer.totals),
                [self._plotted(measure, row.values) for row in rows],
            )
            for measure in self.answer.query.measures
        ]

    def course(self) -> Course:
        """The first measure over time, with the time that it is compared with."""
        query = self.answer.query
        measure, part_of_time = query.measures[0], query.time_field
        assert part_of_time
        label = self.label(measure) + (", %" if measure is Measure.CONVERSION_RATE else "")
        rows, partial = [], set()
        for row in self._by_time(self.answer.rows):
            name = label_of(part_of_time, row.group[0])
            values = [row.values, *([row.previous] if row.previous else [])]
            rows.append((name, [self._plotted(measure, each) for each in values]))
            if row.is_partial:
                partial.add(name)
        columns = [label, *([_BEFORE[query.compare]] if query.compare else [])]
        title = f"{label}, {period_in_words(query.period)}"
        return Course(title, part_of_time.value.title(), columns, rows, partial)

    def row(self, row: Row) -> ShownRow:
        cells = [self._cell(measure, row) for measure in self.answer.query.measures]
        return ShownRow(self._names(row), cells, row.is_partial)

    def _names(self, row: Row) -> list[tuple[str, str]]:
        query = self.answer.query
        names = []
        for by, value in zip(query.group_by, row.group, strict=True):
            if query.time_field and by in TIMES:
                name = label_of(query.time_field, value)
            else:
                name = name_of(by, value, self.answer.links, None if by in TIMES else row.kind)
            names.append((field_name(by), name))
        return names

    def _cell(self, measure: Measure, row: Row) -> FigureCell:
        """A number, with the change of the first currency that the row has."""
        amounts = [values[measure] for values in (row.values, row.previous) if values]
        used = [each for each in self.currencies if any(number(amount, each) for amount in amounts)]
        lines = lines_of(measure, row.values[measure], self.currencies)
        changed = shown_change(measure, row, (used or self.currencies)[0])
        return FigureCell(self.label(measure), lines, changed)

    def _plotted(self, measure: Measure, values: Values) -> Numeric:
        value = number(values[measure], self.currencies[0]) or 0
        return round(100 * float(value), 2) if measure is Measure.CONVERSION_RATE else value

    def _by_time(self, rows: Sequence[Row]) -> list[Row]:
        """The rows in the order of their time, in which they may not be."""
        return sorted(rows, key=lambda row: row.group[0] or "")


def _currencies(answer: AnalyticsAnswer) -> list[str]:
    """The currencies of the report's amounts, the one with the largest amount first."""
    if answer.query.currency:
        return [answer.query.currency]
    sums: dict[str, float] = {}
    for values in (answer.totals.values, answer.totals.previous or {}):
        for shown, value in values.items():
            if shown in MONEY - RATES and isinstance(value, Mapping):
                for currency, amount in value.items():
                    sums[currency] = max(sums.get(currency, 0.0), float(amount))
    return sorted(sums, key=lambda currency: (-sums[currency], currency)) or ["EUR"]
