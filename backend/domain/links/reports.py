"""What visitors report of a link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.fields.rules import Text, Word


class ReportReason(StrEnum):
    """What is wrong with a link, as a visitor says."""

    FRAUD = "fraud"
    MALWARE = "malware"
    SPAM = "spam"
    ILLEGAL = "illegal"
    OTHER = "other"


REPORT_TEXT = Text(1000, lines=True, shown=True)


@dataclass(frozen=True, slots=True)
class LinkReport:
    """The report of one visitor. `text` is empty if the visitor wrote nothing."""

    reason: ReportReason
    text: str
    at: datetime


def parse_report(reason: str, text: str, at: datetime) -> LinkReport:
    """The report in a form. Raises InvalidField."""
    comment = text.replace("\r\n", "\n").strip()
    chosen = ReportReason(Word(ReportReason).parse("reason", reason))
    parsed = REPORT_TEXT.parse("text", comment) if comment else ""
    return LinkReport(chosen, parsed, at.replace(microsecond=0))
