"""/cohorts: customers over time.

Who opens it: whoever answers for what is spent on new customers, once a month. What they decide by it:
whether customers of a campaign are worth what they cost, though their first sale alone may not be; how long
to wait before a campaign is judged; and whether the shop lives by new customers or by those who come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import chips_of
from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.view import PRESETS, View, read_view
from backend.dashboard.cohorts.triangle import SHOWN, SUMMED, main_currency, triangle_of
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.cohorts.cohorts import DEFAULT_WEEKS, check_cohorts, cohort_rules
from backend.domain.analytics.cohorts.input import customers_query
from backend.domain.analytics.cohorts.json_form import cohort_notes
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.analytics.query import Measure
from backend.domain.durations import duration_words
from backend.domain.errors import InvalidField
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.web.current import resources

# Of the usual periods, those that are long enough and not too long. The first of them is shown without any.
_USUAL = "90"
_PRESETS = {name: PRESETS[name] for name in ("28", _USUAL, "year")}
_CHOICES = {"show": tuple(SHOWN), "sum": ("1",), "period": ("28",)}


@dataclass(frozen=True, slots=True)
class CustomerKind:
    """New or returning customers: their name, how many there are, and what they bought, in lines."""

    name: str
    meaning: str
    customers: str
    conversions: int
    revenue: Sequence[str]


@dashboard.get("/cohorts")
@needs(Permission.ANALYTICS_READ)
async def cohorts() -> Response:
    """Customers by the week of their first touch, the time to a sale, and new and returning customers."""
    view = _view()
    return await page(
        "cohorts/cohorts.html",
        422 if view.errors else 200,
        later=partial(_content, view),
        view=view,
    )


def _view() -> View:
    """The view of the address. Without a period, it is a longer one than other pages show."""
    arguments = dict(request.args.items())
    if not any(arguments.get(name) for name in ("from", "to")) and arguments.get("period") not in _PRESETS:
        arguments["period"] = _USUAL
    now = resources().clock()
    view = replace(read_view(arguments, now, now.date(), _CHOICES), comparison=None)
    try:
        check_cohorts(view.period)
    except InvalidField as error:
        shorter = read_view(arguments | {"period": _USUAL}, now, now.date(), _CHOICES)
        errors = {**view.errors, error.field: error.rule}
        return replace(view, period=shorter.period, errors=errors)
    return view


async def _content(view: View) -> dict[str, Any]:
    query = customers_query(view.query(Measure.CONVERSIONS))
    questions = [
        AskCohorts(replace(query, rules=cohort_rules()), DEFAULT_WEEKS),
        AskTimeToSale(query),
        AskNewAndReturning(query),
    ]
    table, took, kinds = await resources().analytics.ask_all(org_id(), questions)
    path = url_for("dashboard.cohorts")
    shown, is_summed = view.others.get("show", "revenue"), "sum" in view.others
    currency = view.currency or main_currency(table)
    return {
        "path": path,
        "presets": _PRESETS,
        "chips": await chips_of(view, path),
        "shown": shown,
        "choices": SHOWN,
        "has_sum": shown in SUMMED,
        "is_summed": is_summed,
        "currency": currency if shown in {"revenue", "per_customer"} else "",
        "others": [other for other in table.currencies if other != currency],
        "triangle": triangle_of(table, shown, currency, is_summed=is_summed),
        "has_customers": any(cohort.customers for cohort in table.cohorts),
        "took": took,
        "ends": _ends(took),
        "buckets": _buckets(took),
        "kinds": _kinds(kinds),
        "notes": cohort_notes(table),
    }


def _ends(took: TimeToSale) -> list[tuple[str, str]]:
    """By when half of the sales, and nine of ten, had come."""
    ends = (("Half of the sales came within", took.median), ("Nine of ten within", took.p90))
    return [(name, duration_words(timedelta(milliseconds=end))) for name, end in ends if end is not None]


def _buckets(took: TimeToSale) -> list[tuple[str, list[int]]]:
    """The rows of the histogram."""
    words = [
        f"{duration_words(begin)} or more"
        if end is None
        else f"{duration_words(begin)} to {duration_words(end)}"
        for begin, end in zip_longest(EDGES, EDGES[1:])
    ]
    words[0] = f"under {duration_words(EDGES[1])}"
    return [(name, [count]) for name, count in zip(words, took.counts, strict=True)]


def _kinds(found: NewAndReturning) -> list[CustomerKind]:
    known = [
        _kind("New", "Their first sale of all is in this time.", found.new),
        _kind("Returning", "They had bought before it.", found.returning),
    ]
    if not found.unknown.conversions:
        return known
    unknown = _kind("Unknown", "Sales without a customer id.", found.unknown)
    return [*known, replace(unknown, customers="–")]


def _kind(name: str, meaning: str, figures: SaleFigures) -> CustomerKind:
    amounts = [f"{amount(figures.revenue[each])} {each}" for each in sorted(figures.revenue)] or ["–"]
    return CustomerKind(name, meaning, f"{figures.customers:,}", figures.conversions, amounts)
