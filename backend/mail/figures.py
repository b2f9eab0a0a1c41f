"""What a mail shows of a report: the last whole week or month, in the reader's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from backend.domain.analytics.answer import AnalyticsAnswer, Row, RowKind
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.period import Comparison, TimeField
from backend.domain.analytics.query import TIMES, Field, Measure, Query, QueryField
from backend.domain.ids import LinkId
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Recipient
from backend.domain.reports.report import Report
from backend.mail.numbers import change_in_words, country_in, lines_of, part_of_time_in, period_in
from backend.mail.texts import sections_in, text_in

# A mail is read on a phone; the report's page has all rows. Days of a month are few enough to be there whole.
MOST_ROWS, MOST_DAYS = 10, 31
_DAYS = ((Field.DAY,), (Field.WEEK,), (Field.MONTH,))


@dataclass(frozen=True, slots=True)
class MailFigure:
    """A number with its label, its lines, and how it changed."""

    label: str
    lines: Sequence[str]
    change: str


@dataclass(frozen=True, slots=True)
class MailRow:
    """What a row is of, and its numbers."""

    name: str
    figures: Sequence[MailFigure]


@dataclass(frozen=True, slots=True)
class MailedReport:
    """What a mail shows. `by` is what rows are of, "" where there is one line of totals."""

    period: str
    compared: str
    zone: str
    totals: Sequence[MailFigure]
    by: str
    rows: Sequence[MailRow]
    left_out: int


def mailed_query(report: Report, recipient: Recipient, now: datetime) -> Query:
    """The report's query, about the reader's last whole week or month, with the one before.

    Raises InvalidField where the report can't be shown any more.
    """
    query = report.query_at(now)
    return replace(
        query,
        period=recipient.period_at(now),
        compare=Comparison.PREVIOUS,
        limit=min(query.limit, MOST_DAYS if tuple(query.group_by) in _DAYS else MOST_ROWS),
        now=now,
    )


def mailed_report(answer: AnalyticsAnswer, language: Language) -> MailedReport:
    """What a mail shows of the answer to `mailed_query`."""
    query, before = answer.query, answer.previous_period
    return MailedReport(
        period=period_in(language, query.period),
        compared=text_in(language, "words", "compared", period=period_in(language, before)) if before else "",
        zone=str(query.period.zone),
        totals=_figures(answer, answer.totals, language),
        by=", ".join(_field_name(by, language) for by in query.group_by),
        rows=[
            MailRow(_row_name(answer, row, language), _figures(answer, row, language)) for row in answer.rows
        ]
        if query.group_by
        else [],
        left_out=(answer.rows_left_out or 0) if query.group_by else 0,
    )


def _figures(answer: AnalyticsAnswer, row: Row, language: Language) -> list[MailFigure]:
    query, names = answer.query, sections_in(language)["measures"]
    return [
        MailFigure(
            names[measure.value],
            lines_of(measure, row.values[measure], query.currency, language),
            _change(measure, row, query.currency, language),
        )
        for measure in query.measures
    ]


def _change(measure: Measure, row: Row, currency: str | None, language: Language) -> str:
    if row.previous is None:
        return ""
    return change_in_words(measure, row.values, row.previous, currency, language)


def _field_name(by: QueryField, language: Language) -> str:
    if isinstance(by, EventProperty):
        return by.property_name
    return sections_in(language)["fields"][by.value]


def _row_name(answer: AnalyticsAnswer, row: Row, language: Language) -> str:
    pairs = zip(answer.query.group_by, row.group, strict=True)
    return ", ".join(_value_name(answer, by, value, row.kind, language) for by, value in pairs)


def _value_name(
    answer: AnalyticsAnswer, by: QueryField, value: str | None, kind: RowKind | None, language: Language
) -> str:
    words = sections_in(language)["words"]
    if by in TIMES:
        return part_of_time_in(language, TimeField(by.value), value) if value else words["none"]
    if kind:
        return words[kind.value]
    if value is None:
        return words["none"]
    if by is Field.LINK:
        link = answer.links.get(LinkId(value))
        return link.link_name if link else words["deleted_link"]
    return country_in(language, value) if by is Field.COUNTRY else value
