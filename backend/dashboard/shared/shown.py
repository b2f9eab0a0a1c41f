"""What the page of a report shows of the answer to its query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backend.dashboard.analytics.figures import (
    BEFORE,
    Course,
    FigureCell,
    label_in,
    label_of,
    lines_of,
    meanings_of,
    number,
    plotted,
    shown_change,
)
from backend.dashboard.analytics.tables import SHORT, name_of
from backend.dashboard.analytics.view import period_in_words
from backend.domain.analytics.answer import AnalyticsAnswer, Row, Values
from backend.domain.analytics.changes import Numeric
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import TIMES, Query, field_label

# The name of the file with what a report shows first.
REPORT_FILE = "report"


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row: the names of what it is of, each with the label of its column, and its numbers.

    In a table of an overview, `share` is what the number that sorts the rows is of the largest, in percent.
    """

    names: Sequence[tuple[str, str]]
    cells: Sequence[FigureCell]
    is_partial: bool = False
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class ShownTotal:
    """What all rows come to in one measure; `course` is how that came about, where rows are of the time."""

    cell: FigureCell
    course: Sequence[Numeric | None] = ()


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table of an overview: what its rows are of, the headings of its numbers, and its file's name.

    A heading is a label, and a short one where there is one.
    """

    name: str
    measures: Sequence[tuple[str, str]]
    rows: Sequence[ShownRow]
    left_out: int
    file: str
    names_currencies: bool


@dataclass(frozen=True, slots=True)
class ShownReport:
    """The parts of the page. `groups` and `measures` are the headings of the table.

    An overview has several `tables`, and shows the course of its figures in no table.
    """

    compared: str
    totals: Sequence[ShownTotal]
    course: Course | None
    groups: Sequence[str]
    measures: Sequence[str]
    rows: Sequence[ShownRow]
    left_out: int
    notes: Sequence[str]
    words: Sequence[tuple[str, str]]
    tables: Sequence[ShownTable] = ()


def shown_overview(answers: Sequence[AnalyticsAnswer]) -> ShownReport:
    """What a page shows of the answers to the queries of an overview."""
    course, *tables = answers
    currencies = _currencies(course)
    files = file_names(answers)[1:]
    return replace(
        shown_report(course),
        groups=(),
        rows=(),
        tables=[_Part(answer, currencies).table(name) for answer, name in zip(tables, files, strict=True)],
        notes=list(dict.fromkeys(note for answer in answers for note in answer.notes)),
    )


def file_names(answers: Sequence[AnalyticsAnswer]) -> list[str]:
    """What the file of each answer is called; all but the first one by what their rows are of."""
    names = [REPORT_FILE]
    for answer in answers[1:]:
        by = answer.query.group_by[0]
        name = "property" if isinstance(by, EventProperty) else by.value
        names.append(f"{name}-{len(names)}" if name in names else name)
    return names


def shown_report(answer: AnalyticsAnswer) -> ShownReport:
    """What a page shows of the answer."""
    query = answer.query
    part = _Part(answer, _currencies(answer))
    return ShownReport(
        compared=period_in_words(answer.previous_period) if answer.previous_period else "",
        totals=part.totals(),
        course=part.course() if part.is_course else None,
        groups=[field_label(by) for by in query.group_by],
        measures=[part.label(measure) for measure in query.measures],
        rows=[part.row(row) for row in answer.rows] if query.group_by else [],
        left_out=answer.rows_left_out or 0,
        notes=answer.notes,
        words=meanings_of(query.measures),
    )


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
        return label_in(measure, self.currencies)

    def totals(self) -> list[ShownTotal]:
        rows = self._by_time(self.answer.rows) if self.is_course else ()
        return [
            ShownTotal(
                self._cell(measure, self.answer.totals),
                [plotted(measure, row.values, self.currencies[0]) for row in rows],
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
            rows.append((name, [plotted(measure, amount, self.currencies[0]) for amount in values]))
            if row.is_partial:
                partial.add(name)
        columns = [label, *([BEFORE[query.compare]] if query.compare else [])]
        title = f"{label}, {period_in_words(query.period)}"
        return Course(title, part_of_time.value.title(), columns, rows, partial)

    def row(self, row: Row) -> ShownRow:
        cells = [self._cell(measure, row) for measure in self.answer.query.measures]
        return ShownRow(self._names(row), cells, row.is_partial)

    def table(self, file: str) -> ShownTable:
        """The answer as a table of an overview."""
        query, rows = self.answer.query, self.answer.rows
        sizes = [self._size(row) for row in rows]
        most = max(sizes, default=0.0)
        return ShownTable(
            field_label(query.group_by[0]),
            [(self.label(measure), SHORT.get(measure, "")) for measure in query.measures],
            [
                replace(self.row(row), share=100 * size / most if most else 0.0)
                for row, size in zip(rows, sizes, strict=True)
            ],
            self.answer.rows_left_out or 0,
            file,
            len(self.currencies) > 1 and any(measure.is_money for measure in query.measures),
        )

    def _size(self, row: Row) -> float:
        """The number that sorts the row, or how much it changed, either way."""
        order = self.answer.query.sorting
        if not isinstance(order.column, Measure):
            return 0.0
        now, before = (
            float(number(values[order.column], self.currencies[0]) or 0) if values else 0.0
            for values in (row.values, row.previous)
        )
        return abs(now - before) if order.of_change or order.of_difference else now

    def _names(self, row: Row) -> list[tuple[str, str]]:
        query = self.answer.query
        names = []
        for by, value in zip(query.group_by, row.group, strict=True):
            if query.time_field and by in TIMES:
                name = label_of(query.time_field, value)
            else:
                name = name_of(by, value, self.answer.links, None if by in TIMES else row.kind)
            names.append((field_label(by), name))
        return names

    def _cell(self, measure: Measure, row: Row) -> FigureCell:
        """A number, with the change of the first currency that the row has."""
        amounts = [values[measure] for values in (row.values, row.previous) if values]
        used = [
            currency for currency in self.currencies if any(number(amount, currency) for amount in amounts)
        ]
        lines = lines_of(measure, row.values[measure], self.currencies)
        changed = shown_change(measure, row, (used or self.currencies)[0])
        return FigureCell(self.label(measure), lines, changed)

    def _by_time(self, rows: Sequence[Row]) -> list[Row]:
        """The rows in the order of their time, in which they may not be."""
        return sorted(rows, key=lambda row: row.group[0] or "")


def _currencies(answer: AnalyticsAnswer) -> list[str]:
    return currencies_of_rows(answer.query, [answer.totals.values, answer.totals.previous or {}])


def currencies_of_rows(query: Query, rows: Iterable[Values]) -> list[str]:
    """The currencies of the rows' amounts, the one with the largest amount first."""
    if query.currency:
        return [query.currency]
    sums: dict[str, float] = {}
    amounts = [measure for measure in query.measures if measure.is_money and not measure.is_rate]
    for values in rows:
        for measure in amounts:
            if isinstance(value := values.get(measure), Mapping):
                for currency, amount in value.items():
                    sums[currency] = max(sums.get(currency, 0.0), float(amount))
    return sorted(sums, key=lambda currency: (-sums[currency], currency)) or ["EUR"]
