"""/sales: the single sales, leads or events that a number counts, and who gets the credit for each.

Who opens it: whoever asks which orders a campaign's revenue is made of. They come from a number, see its
sales under the same filters and rules of credit, and go on to the explanation of one.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import chips_of, csv_of_pages, view_of_request
from backend.dashboard.analytics.attribution import CREDIT_CHOICES, CREDIT_VALUES, rules_of
from backend.dashboard.analytics.events import marked_properties
from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.rows_behind import sale_address
from backend.dashboard.analytics.view import FILTERS, PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.query import Field, Query, QueryField
from backend.domain.ids import LinkId
from backend.domain.reports.singles import COUNTED, SalesOf
from backend.domain.sales.explanation import percent
from backend.domain.web.client import PLATFORM_NAMES
from backend.storage.analytics.singles.sales import SingleSale, SingleSales
from backend.web.current import resources

_OF = "of"
_TABS = {SalesOf.SALES: "Sales", SalesOf.LEADS: "Leads", SalesOf.EVENTS: "Events"}
_CHOICES: dict[str, Container[str]] = {_OF: tuple(_TABS), **CREDIT_VALUES}
_COLUMNS = (
    "time", "event", "transaction_id", "customer_id", "revenue", "refunded", "currency", "part", "credited",
    "link_id", "link_name", "campaign", "country", "platform",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SingleSaleRow:
    """A single sale in words. `explanation` is the address of its explanation; "" if it has no order id."""

    time: str
    name: str
    amount: str
    refunded: str
    part: str
    explanation: str
    customer: str
    link_id: LinkId | None
    credited_to: str
    country: str | None
    platform: str


@dashboard.get("/sales")
@needs(Permission.ANALYTICS_READ)
async def sales() -> Response:
    """A page of the single sales that the view counts."""
    view = await _view()
    status = 422 if view.errors else 200
    return await page("analytics/sales.html", status, later=partial(_content, view, paging()), view=view)


async def _content(view: View, paged: Paging) -> dict[str, Any]:
    path = url_for("dashboard.sales")
    question = SingleSales(_query(view), PAGE_SIZE, paged.skip)
    found = await resources().analytics.ask(org_id(), question)
    return {
        "path": path,
        "csv_path": url_for("dashboard.sales_csv"),
        "presets": PRESETS,
        "chips": await chips_of(view, path),
        "tabs": _TABS,
        "of": _of(view),
        "rules": rules_of(view),
        "choices": CREDIT_CHOICES,
        "rows": [_row(_shown(sale), view) for sale in found.sales],
        "total": found.total,
        "paging": paged.with_total(found.total),
    }


@dashboard.get("/sales.csv")
@needs(Permission.ANALYTICS_READ)
async def sales_csv() -> Response:
    """All single sales that the view counts, as a file with exact amounts."""
    view = await _view()
    question = partial(SingleSales, _query(view))
    return await csv_of_pages(f"waylink-{_of(view)}", _COLUMNS, question, partial(_lines_of, view))


async def _view() -> View:
    """The view in the address. Only events can be filtered by their names and properties."""
    fields: tuple[QueryField, ...] = FILTERS
    if request.args.get(_OF) == SalesOf.EVENTS:
        fields = (*FILTERS, Field.EVENT, *await marked_properties())
    return await view_of_request(_CHOICES, fields)


def _query(view: View) -> Query:
    return view.query(*COUNTED[_of(view)], rules=rules_of(view))


def _of(view: View) -> SalesOf:
    return SalesOf(view.others.get(_OF, SalesOf.SALES))


def _shown(sale: SingleSale) -> SingleSale:
    """The sale as the user may see it: without order and customer, if persons' data is not for them."""
    is_whole = Permission.PERSONS_READ in permissions()
    return sale if is_whole else replace(sale, customer=None, transaction_id=None)


def _row(sale: SingleSale, view: View) -> SingleSaleRow:
    explanation = ""
    if sale.transaction_id and sale.revenue is not None:
        names = {"touch": "model", "credit": "credit", "window": "lookback_days"}
        chosen = {name: view.others[named] for named, name in names.items() if named in view.others}
        explanation = sale_address(sale.transaction_id, chosen)
    return SingleSaleRow(
        time=f"{sale.at.astimezone(view.zone):%-d %b, %H:%M:%S}",
        name=sale.name or sale.transaction_id or "–",
        amount="–" if sale.revenue is None else f"{amount(sale.revenue)} {sale.currency}",
        refunded=amount(sale.refunded) if sale.refunded else "",
        part="" if sale.part == 1 else percent(sale.part),
        explanation=explanation,
        customer=sale.customer or "–",
        link_id=sale.link_id,
        credited_to=sale.link_name or sale.campaign or ("No link" if sale.is_credited else "Not credited"),
        country=sale.country,
        platform=PLATFORM_NAMES.get(sale.platform, sale.platform) if sale.platform else "–",
    )


def _lines_of(view: View, whole: SingleSale) -> list[list[str | None]]:
    sale = _shown(whole)
    revenue, refunded = (None if paid is None else f"{paid:f}" for paid in (sale.revenue, sale.refunded))
    return [[
        sale.at.astimezone(view.zone).isoformat(timespec="milliseconds"), sale.name, sale.transaction_id,
        sale.customer, revenue, refunded, sale.currency, _decimal(sale.part),
        "true" if sale.is_credited else "false", sale.link_id, sale.link_name, sale.campaign, sale.country,
        sale.platform,
    ]]  # fmt: skip


def _decimal(part: Fraction) -> str:
    """A part of a sale with six decimals; 1 as it is."""
    return "1" if part == 1 else f"{float(part):.6f}"
