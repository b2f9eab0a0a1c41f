"""/cohorts: customers over time.

Who opens it: whoever answers for what is spent on new customers, once a month. What they decide by it:
whether customers of a campaign are worth what they cost, though their first sale alone may not be; how long
to wait before a campaign is judged; and whether the shop lives by new customers or by those who come back.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.answers import chips_of
from backend.dashboard.analytics.figures import Definition, RowsBehind
from backend.dashboard.analytics.view import View
from backend.dashboard.cohorts.shown import buckets_of, ends_of, kinds_of
from backend.dashboard.cohorts.triangle import SHOWN, currencies_of, triangle_of
from backend.dashboard.cohorts.view import PERIODS, cohorts_view, sold_address
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.cohorts.cells import ADDED_UP, OF_MONEY, CellFigure
from backend.domain.analytics.cohorts.cohorts import DEFAULT_WEEKS, cohort_rules
from backend.domain.analytics.cohorts.input import customers_query
from backend.domain.analytics.cohorts.json_form import cohort_notes
from backend.domain.analytics.cohorts.parts import CustomersOf
from backend.domain.analytics.measures import Measure
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.web.current import resources

# What a cell of cohorts counts.
_MEANINGS = {
    CellFigure.REVENUE: "What the row's customers paid in that week after their first touch, before refunds.",
    CellFigure.REVENUE_PER_CUSTOMER: "What they paid in that week, by the number of customers of the row.",
    CellFigure.CONVERSIONS: "How often the row's customers bought in that week after their first touch.",
    CellFigure.CUSTOMERS: "How many of the row's customers bought in that week after their first touch.",
}
_TOOK = "Conversions of this time, by how long they came after the click that they are credited to."
_KINDS = (
    "Customers who bought in this time, each once, and all that they bought in it, before refunds. New is "
    "who had bought nothing before this time."
)


@dashboard.get("/cohorts")
@needs(Permission.ANALYTICS_READ)
async def cohorts() -> Response:
    """Customers by the week of their first touch, the time to a sale, and new and returning customers."""
    view = cohorts_view()
    return await page(
        "cohorts/cohorts.html",
        422 if view.errors else 200,
        later=partial(_content, view),
        view=view,
    )


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
        "presets": PERIODS,
        "chips": await chips_of(view, path),
        "shown": shown,
        "choices": SHOWN,
        "has_sum": shown in ADDED_UP,
        "is_summed": is_summed,
        "currency": currency if shown in OF_MONEY else "",
        "others": [other for other in table.currencies if other != currency],
        "triangle": triangle_of(
            table, shown, currency, is_summed=is_summed, address=partial(_cell_address, view, shown, currency)
        ),
        "definitions": _definitions(view, shown),
        "untouched": sold_address(view, bucket="none", sum=None),
        "has_customers": any(cohort.customers for cohort in table.cohorts),
        "took": took,
        "ends": ends_of(took),
        "buckets": buckets_of(took),
        "bucket_addresses": {
            name: address
            for number, (name, [count]) in enumerate(buckets_of(took))
            if count and (address := sold_address(view, bucket=str(number), sum=None))
        },
        "kinds": kinds_of(kinds),
        "kind_addresses": {
            kind.value: (
                sold_address(view, kind=kind.value, sum=None),
                sold_address(view, kind=kind.value, sum=None, of="customers"),
            )
            for kind in CustomersOf
        },
        "notes": cohort_notes(table),
    }


def _cell_address(view: View, shown: CellFigure, currency: str, label: str, week: int | None) -> str:
    """The page of what a cell counts; without a week, of the row's customers."""
    part: dict[str, str | None] = {"cohort": label, "week": None if week is None else str(week)}
    if week is None or shown not in ADDED_UP:
        part |= {"of": "customers", "sum": None}
    elif shown in OF_MONEY:
        part["currency"] = currency
    return sold_address(view, **part)


def _definitions(view: View, shown: CellFigure) -> dict[str, Definition]:
    """What the numbers of each card count."""
    address = sold_address(view, bucket="none", sum=None)
    sales = [RowsBehind("The sales without a touch", address)] if address else []
    found = [
        Definition("cohort", SHOWN[shown], _MEANINGS[shown]),
        Definition("took", "Time from click to sale", _TOOK, *sales),
        Definition("kinds", "New and returning customers", _KINDS),
    ]
    return {definition.name: definition for definition in found}
