"""What a mail shows of a report of a list of links: the first of them, with what came of each."""

from __future__ import annotations

from backend.domain.analytics.period import Comparison
from backend.domain.analytics.query import Field
from backend.domain.mail.language import Language
from backend.domain.reports.links import SharedLinks
from backend.mail.figures.mailed import MailedReport, MailFigure, MailRow, MailSection, compared_in
from backend.mail.figures.rows import figures_of_row, name_of_field
from backend.mail.numbers import period_in, whole_number
from backend.mail.texts import text_in


def mailed_links(found: SharedLinks, language: Language) -> MailedReport:
    """What a mail shows of the list."""
    query = found.query
    rows = [MailRow(link.name, figures_of_row(query, link.figures, language)) for link in found.links]
    in_all = MailFigure(text_in(language, "words", "links"), [whole_number(found.total, language)])
    return MailedReport(
        period=period_in(language, query.period),
        compared=compared_in(language, query.period.compared(Comparison.PREVIOUS)),
        zone=str(query.period.zone),
        totals=[in_all],
        sections=[MailSection(name_of_field(Field.LINK, language), rows, found.total - len(rows))],
    )
