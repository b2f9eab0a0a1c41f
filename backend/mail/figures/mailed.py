"""What a mail shows of a report, whatever its kind: figures, and rows with figures of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.analytics.period import QueryPeriod
from backend.domain.mail.language import Language
from backend.mail.numbers import period_in
from backend.mail.texts import text_in

# A mail is read on a phone; the report's page has all rows.
MOST_MAILED_ROWS = 10


@dataclass(frozen=True, slots=True)
class MailFigure:
    """A number with its label, its lines, and how it changed."""

    label: str
    lines: Sequence[str]
    change: str = ""


@dataclass(frozen=True, slots=True)
class MailRow:
    """What a row is of, and its numbers."""

    name: str
    figures: Sequence[MailFigure]


@dataclass(frozen=True, slots=True)
class MailSection:
    """Rows below each other; `by` is what they are of."""

    by: str
    rows: Sequence[MailRow]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class MailedReport:
    """What a mail shows. `notes` are sentences below the figures.

    `filters` are pairs of what is filtered and what is left, `noted` of a day and what was noted about it.
    """

    period: str
    compared: str
    zone: str
    totals: Sequence[MailFigure]
    sections: Sequence[MailSection] = ()
    notes: Sequence[str] = ()
    filters: Sequence[tuple[str, str]] = ()
    noted: Sequence[tuple[str, str]] = ()


def compared_in(language: Language, before: QueryPeriod | None) -> str:
    """A sentence that says what is compared with; "" for nothing."""
    return text_in(language, "words", "compared", period=period_in(language, before)) if before else ""
