"""What a mail tells of an organization's notes, where the report's page has them in its chart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from backend.domain.analytics.period import QueryPeriod, TimeField
from backend.domain.annotations.annotation import NotedTime
from backend.domain.annotations.link_change import ChangeWording, LinkChange, changes_in_words
from backend.domain.annotations.placing import span_of
from backend.domain.mail.language import Language
from backend.mail.numbers import day_in
from backend.mail.texts import sections_in
from backend.storage.reports.noted import Noted


def mailed_notes(noted: Noted, period: QueryPeriod, language: Language) -> list[tuple[str, str]]:
    """Pairs of a day of the period and what was noted about it, the oldest first."""
    days = sorted(_noted(noted, period, language), key=lambda pair: pair[0])
    return [(day_in(language, day), text) for day, text in days]


def _noted(noted: Noted, period: QueryPeriod, language: Language) -> Iterator[tuple[date, str]]:
    for note in noted.notes:
        if day := _day_of(note.noted_time, period):
            name = noted.link_name(note)
            yield day, f"{note.text} ({name})" if name else note.text
    changed: defaultdict[date, list[LinkChange]] = defaultdict(list)
    for change in noted.changes:
        if day := _day_of(NotedTime(change.at, is_of_day=False), period):
            changed[day].append(change)
    sections = sections_in(language)
    wording = ChangeWording(**sections["link_changes"])
    for day, changes in changed.items():
        yield day, changes_in_words(changes, wording, sections["link_fields"])


def _day_of(noted: NotedTime, period: QueryPeriod) -> date | None:
    span = span_of(noted, period, period.spans(TimeField.DAY))
    return date.fromisoformat(span.label) if span and span.label else None
