"""What a mail shows of a report of a list of links: the first of them, with what came of each."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from backend.domain.analytics.answer import Row, Values
from backend.domain.analytics.period import Comparison
from backend.domain.analytics.query import MONEY, Field, Measure, Query
from backend.domain.mail.language import Language
from backend.domain.reports.links import LinkList, SharedLink, SharedLinks
from backend.domain.reports.recipient import Recipient
from backend.mail.figures.mailed import (
    MOST_MAILED_ROWS,
    MailedReport,
    MailFigure,
    MailRow,
    MailSection,
    compared_in,
)
from backend.mail.figures.rows import figures_of_row, name_of_field
from backend.mail.numbers import period_in, whole_number
from backend.mail.texts import text_in


def mailed_list(listed: LinkList, reader: Recipient, now: datetime) -> LinkList:
    """The list with the figures of the reader's last whole week or month, against the one before."""
    query = replace(
        listed.query,
        period=reader.period_at(now),
        compare=Comparison.PREVIOUS,
        limit=min(listed.query.limit, MOST_MAILED_ROWS),
        now=now,
    )
    return replace(listed, query=query)


def mailed_links(found: SharedLinks, language: Language) -> MailedReport:
    """What a mail shows of the list."""
    query = found.query
    rows = [MailRow(link.name, _figures(link, query, language)) for link in found.links]
    in_all = MailFigure(text_in(language, "words", "links"), [whole_number(found.total, language)])
    return MailedReport(
        period=period_in(language, query.period),
        compared=compared_in(language, query.period.compared(Comparison.PREVIOUS)),
        zone=str(query.period.zone),
        totals=[in_all],
        sections=[MailSection(name_of_field(Field.LINK, language), rows, found.total - len(rows))],
    )


def _figures(link: SharedLink, query: Query, language: Language) -> list[MailFigure]:
    nothing: Values = {measure: _zero(measure) for measure in query.measures}
    return figures_of_row(query, link.figures or Row((link.path,), nothing), language)


def _zero(measure: Measure) -> int | None:
    return None if measure in MONEY else 0
