"""/cohorts/sales: the single sales, or customers, that a number on the page of cohorts counts.

Who opens it: whoever doubts a number, or asks who the customers of a good week are. They come from a number,
see its customers and sales, and go on to the history of a customer or the explanation of a sale.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.answers import chips_of, csv_of_pages
from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.rows_behind import customer_address, sale_address
from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.analytics.view import AnyDay, View
from backend.dashboard.cohorts.shown import bucket_words
from backend.dashboard.cohorts.view import CHOICES, PERIODS, SOLD_ARGUMENTS, cohorts_view
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.cohorts.cohorts import MOST_WEEKS
from backend.domain.analytics.cohorts.input import customers_query
from backend.domain.analytics.cohorts.parts import (
    CohortCell,
    CustomerRow,
    CustomersOf,
    SoldPart,
    SoldRow,
    TimeBucket,
)
from backend.domain.analytics.cohorts.time_to_sale import EDGES
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query
from backend.storage.analytics.cohorts.questions import AskCustomers, AskSold
from backend.storage.analytics.question import Question
from backend.web.current import resources

_OF, _SALES, _CUSTOMERS = "of", "sales", "customers"
_TABS = {_SALES: "Sales", _CUSTOMERS: "Customers"}
_CHOICES: dict[str, Container[str]] = {
    **CHOICES,
    _OF: (_CUSTOMERS,),
    "cohort": AnyDay(),
    "week": tuple(map(str, range(MOST_WEEKS))),
    "kind": tuple(CustomersOf),
    "bucket": ("none", *map(str, range(len(EDGES)))),
}
_COLUMNS = {
    _SALES: ("time", "transaction_id", "customer_id", "revenue", "refunded", "currency", "touched"),
    _CUSTOMERS: ("customer_id", "revenue", "currency", "first_sale", "last_sale", "touched"),
}
_QUESTIONS: Mapping[str, Callable[[Query, SoldPart, int, int], Question[Any]]] = {
    _SALES: AskSold,
    _CUSTOMERS: AskCustomers,
}
_KINDS = {
    CustomersOf.NEW: "what customers bought whose first sale of all is in this time",
    CustomersOf.RETURNING: "what customers bought who had bought before this time",
    CustomersOf.UNKNOWN: "sales without a customer id",
}


@dataclass(frozen=True, slots=True)
class SoldCells:
    """A sale, or what a customer bought, in words. Addresses are "" where nothing more can be shown."""

    customer: str
    customer_address: str
    order: str
    order_address: str
    amounts: Sequence[str]
    conversions: int
    time: str
    touched: str


@dashboard.get("/cohorts/sales")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def cohorts_sales() -> Response:
    """A page of the sales, or of the customers, that the address names."""
    view, part = _asked()
    status = 422 if view.errors else 200
    return await page(
        "cohorts/sold.html", status, later=partial(_content, view, part, paging()), view=view,
        words=_words(part),
    )  # fmt: skip


async def _content(view: View, part: SoldPart, paged: Paging) -> dict[str, Any]:
    path = url_for("dashboard.cohorts_sales")
    question = _QUESTIONS[_of(view)](_query(view), part, PAGE_SIZE, paged.skip)
    rows, total = await resources().analytics.ask(org_id(), question)
    return {
        "path": path,
        "csv_path": url_for("dashboard.cohorts_sales_csv"),
        "presets": PERIODS,
        "chips": await chips_of(view, path),
        "tabs": _TABS,
        "of": _of(view),
        "rows": [_cells(row, view) for row in rows],
        "total": total,
        "is_cohort": isinstance(part, CohortCell),
        "paging": paged.with_total(total),
        "back": view.address(url_for("dashboard.cohorts"), **dict.fromkeys(SOLD_ARGUMENTS)),
    }


@dashboard.get("/cohorts/sales.csv")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def cohorts_sales_csv() -> Response:
    """All of these sales or customers, as a file with exact amounts."""
    view, part = _asked()
    of = _of(view)
    question = partial(_QUESTIONS[of], _query(view), part)
    return await csv_of_pages(f"waylink-cohort-{of}", _COLUMNS[of], question, partial(_lines_of, view))


def _asked() -> tuple[View, SoldPart]:
    """The view and the part of the request; new customers, where it names no part."""
    view = cohorts_view(_CHOICES)
    others = view.others
    if "cohort" in others:
        week = int(others["week"]) if "week" in others else None
        return view, CohortCell(others["cohort"], week, "sum" in others)
    if "bucket" in others:
        return view, TimeBucket(None if others["bucket"] == "none" else int(others["bucket"]))
    return view, CustomersOf(others.get("kind", CustomersOf.NEW))


def _of(view: View) -> str:
    return view.others.get(_OF, _SALES)


def _query(view: View) -> Query:
    return customers_query(view.query(Measure.CONVERSIONS))


def _words(part: SoldPart) -> str:
    """What the part has, as the end of a sentence."""
    match part:
        case CohortCell():
            came = (
                f"customers whose first touch was in the week of {date.fromisoformat(part.label):%-d %b %Y}"
            )
            if part.week is None:
                return f"{came}, with all that they bought until now"
            when = f"{'until the end of' if part.is_summed else 'in'} week {part.week} after it"
            return f"{came}, with what they bought {when}"
        case CustomersOf():
            return _KINDS[part]
        case TimeBucket(None):
            return "sales without a touch before them"
        case TimeBucket(number):
            return f"sales that came after the click in a time of {bucket_words()[number or 0]}"


def _cells(row: SoldRow | CustomerRow, view: View) -> SoldCells:
    touched = _time(row.touched_at, view)
    if isinstance(row, CustomerRow):
        amounts = [f"{amount(sold)} {currency}" for currency, sold in sorted(row.revenue.items())]
        last = _time(row.last_at, view)
        return SoldCells(*_customer(row.customer_id), "", "", amounts, row.conversions, last, touched)
    order = row.transaction_id
    amounts = [f"{amount(row.amount)} {row.currency}"]
    amounts += [f"{amount(row.refunded)} paid back"] if row.refunded else []
    return SoldCells(
        *_customer(row.customer_id),
        order or "–",
        sale_address(order),
        amounts,
        1,
        _time(row.at, view),
        touched,
    )


def _customer(customer: str | None) -> tuple[str, str]:
    return ("–", "") if customer is None else (customer, customer_address(customer))


def _time(at: datetime | None, view: View) -> str:
    return "–" if at is None else time_in_words(at, view.zone)


def _lines_of(view: View, row: SoldRow | CustomerRow) -> list[list[str | None]]:
    """The line of a sale, or a line for each currency of a customer."""
    if isinstance(row, CustomerRow):
        times = [_exact(at, view) for at in (row.first_at, row.last_at, row.touched_at)]
        return [
            [row.customer_id, f"{sold:f}", currency, *times] for currency, sold in sorted(row.revenue.items())
        ]
    amounts = [f"{row.amount:f}", f"{row.refunded:f}", row.currency]
    ids = [row.transaction_id, row.customer_id]
    return [[_exact(row.at, view), *ids, *amounts, _exact(row.touched_at, view)]]


def _exact(at: datetime | None, view: View) -> str | None:
    return None if at is None else at.astimezone(view.zone).isoformat(timespec="milliseconds")
