"""What a report shows as CSV files: the rows of its page, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from backend.dashboard.shared.answers import ReportAnswer
from backend.dashboard.shared.shown import REPORT_FILE, file_names
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.funnels.answer import FunnelAnswer, funnel_answer_json
from backend.domain.analytics.funnels.words import step_words
from backend.domain.analytics.query import ByCurrency
from backend.domain.analytics.rows import AnswerRows, Cell
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.web.short_urls import ShortUrlForm

_PREVIOUS = "previous_"
# What a group of a funnel may say besides its value.
_OF_GROUPS = ("link_name", "short_url", "kind")


def csv_files(
    shown: ReportAnswer, form: ShortUrlForm, *, shows_revenue: bool
) -> Mapping[str, Callable[[], str]]:
    """What writes each file of a report, by the file's name."""
    if shown.funnel:
        return {REPORT_FILE: partial(_csv_of_funnel, shown.funnel, form)}
    return {
        name: partial(_csv_of, answer, form, shows_revenue=shows_revenue)
        for name, answer in zip(file_names(shown.answers), shown.answers, strict=True)
    }


def _csv_of(answer: AnalyticsAnswer, form: ShortUrlForm, *, shows_revenue: bool) -> str:
    """The rows. Without revenue the file does not divide conversions by currency, and so names none."""
    rows = AnswerRows(answer, form)
    headings = rows.headings()
    shown = [at for at, heading in enumerate(headings) if shows_revenue or not _is_by_currency(heading)]
    lines: list[list[Cell]] = [[*headings], *(rows.cells_of(row) for row in answer.rows)]
    return "".join(csv_line(line[at] for at in shown) for line in lines)


def _csv_of_funnel(answer: FunnelAnswer, form: ShortUrlForm) -> str:
    """A row for each step, of each group where there are any."""
    body = funnel_answer_json(answer, form)
    groups = body.get("groups", [{"steps": body["steps"]}])
    of = [name for name in _OF_GROUPS if any(name in group for group in groups)]
    if answer.query.funnel.group_by:
        of.insert(0, answer.query.funnel.group_by.value)
    of = list(dict.fromkeys(of))
    figures = list(body["steps"][0])
    lines: list[list[Cell]] = [[*of, "step", "what", *figures]]
    names = [step_words(step) for step in answer.query.funnel.steps]
    for group in groups:
        for number, (name, step) in enumerate(zip(names, group["steps"], strict=True), 1):
            values = [*(group.get(each) for each in of), number, name, *(step[each] for each in figures)]
            lines.append([None if value is None else str(value) for value in values])
    return "".join(map(csv_line, lines))


def _is_by_currency(heading: str) -> bool:
    """Whether the column is one of `conversions_EUR` and the like."""
    name = heading.removeprefix(_PREVIOUS)
    return any(name.startswith(f"{column.measure}_") for column in ByCurrency)
