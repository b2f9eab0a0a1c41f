"""The rows of a report as a CSV file: those of its page, and no others."""

from __future__ import annotations

from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.query import ByCurrency
from backend.domain.analytics.rows import AnswerRows, Cell
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.web.short_urls import ShortUrlForm

_PREVIOUS = "previous_"


def csv_of(answer: AnalyticsAnswer, form: ShortUrlForm, *, shows_revenue: bool) -> str:
    """The file. Without revenue it does not divide conversions by currency, and so names none."""
    rows = AnswerRows(answer, form)
    headings = rows.headings()
    shown = [at for at, heading in enumerate(headings) if shows_revenue or not _is_by_currency(heading)]
    lines: list[list[Cell]] = [[*headings], *(rows.cells_of(row) for row in answer.rows)]
    return "".join(csv_line(line[at] for at in shown) for line in lines)


def _is_by_currency(heading: str) -> bool:
    """Whether the column is one of `conversions_EUR` and the like."""
    name = heading.removeprefix(_PREVIOUS)
    return any(name.startswith(f"{column.measure}_") for column in ByCurrency)
