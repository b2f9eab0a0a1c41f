"""/cohorts: customers over time.

Who opens it: whoever answers for what is spent on new customers, once a month. What they decide by it:
whether customers of a campaign are worth what they cost, though their first sale alone may not be; how long
to wait before a campaign is judged; and whether the shop lives by new customers or by those who come back.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import chips_of
from backend.dashboard.analytics.view import PRESETS, View, read_view
from backend.dashboard.cohorts.shown import buckets_of, ends_of, kinds_of
from backend.dashboard.cohorts.triangle import SHOWN, currencies_of, triangle_of
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.cohorts.cells import ADDED_UP, OF_MONEY, CellFigure
from backend.domain.analytics.cohorts.cohorts import DEFAULT_WEEKS, check_cohorts, cohort_rules
from backend.domain.analytics.cohorts.input import customers_query
from backend.domain.analytics.cohorts.json_form import cohort_notes
from backend.domain.analytics.query import Measure
from backend.domain.errors import InvalidField
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.web.current import resources

# Of the usual periods, those that are long enough and not too long. The first of them is shown without any.
_USUAL = "90"
_PRESETS = {name: PRESETS[name] for name in ("28", _USUAL, "year")}
_CHOICES = {"show": tuple(SHOWN), "sum": ("1",), "period": ("28",)}


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
    shown, is_summed = CellFigure(view.others.get("show", CellFigure.REVENUE)), "sum" in view.others
    currency = view.currency or currencies_of(table)[0]
    return {
        "path": path,
        "presets": _PRESETS,
        "chips": await chips_of(view, path),
        "shown": shown,
        "choices": SHOWN,
        "has_sum": shown in ADDED_UP,
        "is_summed": is_summed,
        "currency": currency if shown in OF_MONEY else "",
        "others": [other for other in table.currencies if other != currency],
        "triangle": triangle_of(table, shown, currency, is_summed=is_summed),
        "has_customers": any(cohort.customers for cohort in table.cohorts),
        "took": took,
        "ends": ends_of(took),
        "buckets": buckets_of(took),
        "kinds": kinds_of(kinds),
        "notes": cohort_notes(table),
    }
