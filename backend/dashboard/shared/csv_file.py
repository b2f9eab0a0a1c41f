"""What a report shows as CSV files: the rows of its page, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from backend.dashboard.shared.asking import ReportAnswer
from backend.dashboard.shared.customers.answer import CustomersAnswer
from backend.dashboard.shared.customers.csv_lines import lines_of_cohorts, lines_of_kinds, lines_of_times
from backend.dashboard.shared.customers.shown import NEW_AND_RETURNING, TIME_TO_SALE
from backend.dashboard.shared.links import lines_of_links
from backend.dashboard.shared.live import lines_of_live
from backend.dashboard.shared.rows import lines_of_rows
from backend.dashboard.shared.shown import REPORT_FILE, file_names
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.funnels.answer import FunnelAnswer, funnel_answer_json
from backend.domain.analytics.funnels.words import step_words
from backend.domain.analytics.measures import ByCurrency
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
    if shown.customers:
        return _csvs_of_customers(shown.customers, shows_revenue=shows_revenue)
    if shown.rows:
        rows = partial(lines_of_rows, shown.rows, shows_revenue=shows_revenue)
        return {REPORT_FILE: partial(_written, rows)}
    if shown.links:
        return {REPORT_FILE: partial(_written, partial(lines_of_links, shown.links, form))}
    if shown.live:
        return {REPORT_FILE: partial(_written, partial(lines_of_live, shown.live))}
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
            values = [
                *(group.get(field) for field in of),
                number,
                name,
                *(step[figure] for figure in figures),
            ]
            lines.append([None if value is None else str(value) for value in values])
    return "".join(map(csv_line, lines))


def _csvs_of_customers(found: CustomersAnswer, *, shows_revenue: bool) -> Mapping[str, Callable[[], str]]:
    made: Mapping[str, Callable[[], list[list[Cell]]]] = {
        REPORT_FILE: partial(lines_of_cohorts, found),
        TIME_TO_SALE: partial(lines_of_times, found.took),
        NEW_AND_RETURNING: partial(lines_of_kinds, found, shows_revenue=shows_revenue),
    }
    return {name: partial(_written, lines) for name, lines in made.items()}


def _written(lines: Callable[[], list[list[Cell]]]) -> str:
    return "".join(map(csv_line, lines()))


def _is_by_currency(heading: str) -> bool:
    """Whether the column is one of `conversions_EUR` and the like."""
    name = heading.removeprefix(_PREVIOUS)
    return any(name.startswith(f"{column.measure}_") for column in ByCurrency)
