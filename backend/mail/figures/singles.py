"""What a mail shows of a report of single clicks, sales, leads or events: how many, and the newest of them.

The rows are those that the report's page has, without what names a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Query
from backend.domain.mail.language import Language
from backend.domain.reports.shared_rows import SharedClick, SharedRows, SharedSale
from backend.domain.reports.singles import COUNTED
from backend.domain.web.referring_sites import site_of
from backend.mail.figures.mailed import MailedReport, MailFigure, MailRow, MailSection
from backend.mail.figures.rows import name_of_field, name_of_value
from backend.mail.numbers import day_in, lines_of, period_in, whole_number
from backend.mail.texts import sections_in, text_in

# As many as somebody reads; the report's page has a hundred.
MOST_MAILED_SINGLES = 20


def mailed_singles(found: SharedRows, query: Query, language: Language) -> MailedReport:
    """What a mail shows of the rows."""
    counted = sections_in(language)["measures"][COUNTED[found.of][0].value]
    rows = [_click(click, language) for click in found.clicks] or [
        _sale(sale, language) for sale in found.sales
    ]
    newest = text_in(language, "words", "newest", what=counted)
    return MailedReport(
        period=period_in(language, query.period),
        compared="",
        zone=str(query.period.zone),
        totals=[MailFigure(counted, [whole_number(found.total, language)])],
        sections=[MailSection(newest, rows, max(found.total - len(rows), 0))],
    )


def _click(click: SharedClick, language: Language) -> MailRow:
    facts = {
        Field.COUNTRY: click.country,
        Field.PLATFORM: click.platform,
        Field.REFERRING_SITE: site_of(click.referrer) if click.referrer else None,
    }
    deleted = text_in(language, "words", "deleted_link")
    return MailRow(f"{_hour(click.hour, language)}: {click.link_name or deleted}", _facts(facts, language))


def _sale(sale: SharedSale, language: Language) -> MailRow:
    named = sale.event or sale.link_name or sale.campaign or text_in(language, "words", "not_credited")
    facts = {
        Field.LINK: sale.link_name if named != sale.link_name else None,
        Field.CAMPAIGN: sale.campaign if named != sale.campaign else None,
        Field.COUNTRY: sale.country,
        Field.PLATFORM: sale.platform,
    }
    return MailRow(
        f"{_hour(sale.hour, language)}: {named}", [*_amounts(sale, language), *_facts(facts, language)]
    )


def _amounts(sale: SharedSale, language: Language) -> Sequence[MailFigure]:
    """What was paid, and paid back; nothing where the report shows no revenue."""
    names = sections_in(language)["measures"]
    paid = ((Measure.REVENUE, sale.revenue), (Measure.REFUNDS, sale.refunded))
    return [
        MailFigure(names[measure.value], lines_of(measure, amount, sale.currency, language))
        for measure, amount in paid
        if amount
    ]


def _facts(facts: dict[Field, str | None], language: Language) -> list[MailFigure]:
    return [
        # A link is told by its name already.
        MailFigure(
            name_of_field(by, language),
            [text if by is Field.LINK else name_of_value({}, by, text, None, language)],
        )
        for by, text in facts.items()
        if text
    ]


def _hour(hour: datetime, language: Language) -> str:
    return f"{day_in(language, hour)}, {hour:%H:%M}"
