"""What charts show beside their numbers: notes of people, and when a link was changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby
from urllib.parse import urlencode

from quart import url_for

from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.frame.blueprint import may_open, org_id
from backend.domain.analytics.answer import Row
from backend.domain.analytics.period import QueryPeriod, Spans, TimeField
from backend.domain.analytics.query import Field, QueryField
from backend.domain.annotations.annotation import Annotation, NotedTime
from backend.domain.annotations.link_change import LinkChange, changes_in_words
from backend.domain.annotations.placing import span_of
from backend.domain.ids import LinkId
from backend.storage.analytics.link_changes import LinkChanges
from backend.storage.annotations.notes import list_around
from backend.storage.links.links import find_links
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
    """The notes of this period in a chart with these rows, the oldest first.

    Notes of links are among them where nothing is filtered, and those of the link that is filtered to, which
    then has its changes too.
    """
    chart = _Chart({row.group[0]: number for number, row in enumerate(rows)}, period, period.spans(field))
    link = LinkId(filters.get(Field.LINK) or "")
    notes = [
        note
        for note in await list_around(resources().database, org_id(), period.start, period.end)
        if note.link_id in {None, link} or not filters
    ]
    marks = [*await _noted(notes, chart), *(await _changed(link, chart) if link else ())]
    return sorted(marks, key=lambda mark: mark.row)


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


async def _noted(notes: Sequence[Annotation], chart: _Chart) -> list[Mark]:
    links = await find_links(resources().database, {note.link_id for note in notes if note.link_id}, org_id())
    marks = []
    for note in notes:
        row = chart.row_of(note.noted_time)
        if row is not None:
            link = links.get(note.link_id) if note.link_id else None
            address = url_for("dashboard.notes_edit", note_id=note.id) if may_open("notes_edit") else ""
            when = when_of(note.noted_time, chart.period.zone)
            marks.append(Mark(row, when, note.text, address, link.link_name if link else ""))
    return marks


async def _changed(link_id: LinkId, chart: _Chart) -> Iterator[Mark]:
    """A mark for each row in whose time the link was changed."""
    period = chart.period
    changes = await resources().analytics.ask(org_id(), LinkChanges(link_id, period.start, period.end))
    return _marks_of_changes(changes, chart)


def _marks_of_changes(changes: Sequence[LinkChange], chart: _Chart) -> Iterator[Mark]:
    placed = ((chart.row_of(NotedTime(change.at, is_of_day=False)), change) for change in changes)
    for row, of_row in groupby(placed, key=lambda pair: pair[0]):
        together = [change for _, change in of_row]
        if row is not None:
            when = when_of(NotedTime(together[0].at, is_of_day=False), chart.period.zone)
            yield Mark(row, when, changes_in_words(together))
