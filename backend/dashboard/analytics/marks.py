"""What charts show beside their numbers: notes of people, and when a link was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby
from urllib.parse import urlencode

from quart import url_for

from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.frame.blueprint import may_open, org_id
from backend.domain.analytics.answer import Row
from backend.domain.analytics.period import QueryPeriod, Spans, TimeField
from backend.domain.analytics.query import QueryField
from backend.domain.annotations.annotation import Annotation, NotedTime
from backend.domain.annotations.link_change import LinkChange, changes_in_words
from backend.domain.annotations.placing import span_of
from backend.storage.reports.noted import Noted, read_noted
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class Mark:
    """A note in a chart: at the row with this number, counted from 0, the oldest first.

    `when` is its day or time in words. `address` leads to its form; changes of links have none.
    """

    row: int
    when: str
    text: str
    address: str = ""
    link_name: str = ""


@dataclass(frozen=True, slots=True)
class _Chart:
    """The rows of a chart by their labels, and its time."""

    rows: Mapping[str | None, int]
    period: QueryPeriod
    spans: Spans

    def row_of(self, noted: NotedTime) -> int | None:
        """The number of the row that has this day or time; None if none does."""
        span = span_of(noted, self.period, self.spans)
        return self.rows.get(span.label) if span else None


async def marks_of(
    rows: Sequence[Row], period: QueryPeriod, field: TimeField, filters: Mapping[QueryField, str | None]
) -> list[Mark]:
    """The notes of this period in a chart with these rows, each with the way to its form."""
    noted = await read_noted(resources().database, resources().analytics, org_id(), period, filters)
    leads_to = _form_of if may_open("notes_edit") else None
    return placed_marks(noted, rows, period, field, leads_to)


def placed_marks(
    noted: Noted,
    rows: Sequence[Row],
    period: QueryPeriod,
    field: TimeField,
    leads_to: Callable[[Annotation], str] | None = None,
) -> list[Mark]:
    """What was noted in a chart with these rows, the oldest first; `leads_to` gives the address of a note."""
    chart = _Chart({row.group[0]: number for number, row in enumerate(rows)}, period, period.spans(field))
    marks = [*_marks_of_notes(noted, chart, leads_to), *_marks_of_changes(noted.changes, chart)]
    return sorted(marks, key=lambda mark: mark.row)


def _form_of(note: Annotation) -> str:
    return url_for("dashboard.notes_edit", note_id=note.id)


def note_path(link: str | None) -> str:
    """The address of the form for a new note, of this link if there is one; "" if the user may make none."""
    if not may_open("notes_add"):
        return ""
    path = url_for("dashboard.notes")
    return f"{path}?{urlencode({'link': link})}" if link else path


def when_of(noted: NotedTime, zone: tzinfo) -> str:
    """The day or the time of a note in words, as it is in this time zone."""
    if noted.is_of_day:
        return f"{noted.at:%-d %b %Y}"
    return time_in_words(noted.at, zone)


def _marks_of_notes(
    noted: Noted, chart: _Chart, leads_to: Callable[[Annotation], str] | None
) -> Iterator[Mark]:
    for note in noted.notes:
        row = chart.row_of(note.noted_time)
        if row is not None:
            when = when_of(note.noted_time, chart.period.zone)
            yield Mark(row, when, note.text, leads_to(note) if leads_to else "", noted.link_name(note))


def _marks_of_changes(changes: Sequence[LinkChange], chart: _Chart) -> Iterator[Mark]:
    placed = ((chart.row_of(NotedTime(change.at, is_of_day=False)), change) for change in changes)
    for row, of_row in groupby(placed, key=lambda pair: pair[0]):
        together = [change for _, change in of_row]
        if row is not None:
            when = when_of(NotedTime(together[0].at, is_of_day=False), chart.period.zone)
            yield Mark(row, when, changes_in_words(together))
