"""What a mail shows of a table or an overview: its figures and rows, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from backend.domain.analytics.answer import AnalyticsAnswer, NamedLink, Row, RowKind
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.filter_words import FilterLanguage, FilterWording
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import Comparison, TimeField
from backend.domain.analytics.query import TIMES, Field, Query, QueryField
from backend.domain.ids import LinkId
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Recipient
from backend.domain.reports.views import ReportView
from backend.domain.web.client import PLATFORM_NAMES
from backend.mail.figures.mailed import (
    MOST_MAILED_ROWS,
    MailedReport,
    MailFigure,
    MailRow,
    MailSection,
    compared_in,
)
from backend.mail.numbers import change_in_words, country_in, lines_of, part_of_time_in, period_in
from backend.mail.texts import sections_in

# Days of a month are few enough to be there whole.
_MOST_DAYS = 31
_DAYS = ((Field.DAY,), (Field.WEEK,), (Field.MONTH,))


def mailed_query(view: ReportView, reader: Recipient, now: datetime, most: int = MOST_MAILED_ROWS) -> Query:
    """The view's query, about the reader's last whole week or month, with the one before.

    It has at most so many rows, or all days, weeks or months. Raises InvalidField for a view that mails can't
    show.
    """
    query = view.mailed
    return replace(
        query,
        period=reader.period_at(now),
        compare=Comparison.PREVIOUS,
        limit=min(query.limit, _MOST_DAYS if tuple(query.group_by) in _DAYS else most),
        now=now,
    )


def mailed_rows(answer: AnalyticsAnswer, language: Language) -> MailedReport:
    """What a mail shows of the answer to `mailed_query`."""
    query = answer.query
    sections = []
    if query.group_by:
        by = ", ".join(name_of_field(by, language) for by in query.group_by)
        rows = [
            MailRow(_row_name(answer, row, language), figures_of_row(query, row, language))
            for row in answer.rows
        ]
        sections.append(MailSection(by, rows, answer.rows_left_out or 0))
    return MailedReport(
        period=period_in(language, query.period),
        compared=compared_in(language, answer.previous_period),
        zone=str(query.period.zone),
        totals=figures_of_row(query, answer.totals, language),
        sections=sections,
    )


def figures_of_row(query: Query, row: Row, language: Language) -> list[MailFigure]:
    """The numbers of a row, each with how it changed."""
    names = sections_in(language)["measures"]
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


def name_of_field(by: QueryField, language: Language) -> str:
    """What people call a field."""
    if isinstance(by, EventProperty):
        return by.property_name
    return sections_in(language)["fields"][by.value]


def _row_name(answer: AnalyticsAnswer, row: Row, language: Language) -> str:
    pairs = zip(answer.query.group_by, row.group, strict=True)
    return ", ".join(name_of_value(answer.links, by, value, row.kind, language) for by, value in pairs)


def name_of_value(
    links: Mapping[LinkId, NamedLink],
    by: QueryField,
    value: str | None,
    kind: RowKind | None,
    language: Language,
) -> str:
    """What people call a value of this field, or a row of this kind."""
    words = sections_in(language)["words"]
    if by in TIMES:
        return part_of_time_in(language, TimeField(by.value), value) if value else words["none"]
    if kind:
        return words[kind.value]
    if value is None:
        return words["none"]
    if by is Field.LINK:
        link = links.get(LinkId(value))
        return link.link_name if link else words["deleted_link"]
    if by is Field.COUNTRY:
        return country_in(language, value)
    named: Mapping[QueryField, Mapping[str, str]] = {
        Field.PLATFORM: PLATFORM_NAMES,
        Field.OUTCOME: sections_in(language)["outcomes"],
    }
    return named.get(by, {}).get(value, value)


def filters_in(language: Language) -> FilterLanguage:
    """How the language tells filters."""

    def name(by: QueryField, value: str | None, links: Mapping[LinkId, NamedLink]) -> str:
        return name_of_value(links, by, value, None, language)

    wording = FilterWording(**sections_in(language)["filters"])
    return FilterLanguage(partial(name_of_field, language=language), name, wording)
