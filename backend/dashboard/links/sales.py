"""/links/ID/sales: the single sales that a link gets the credit for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from quart import Response

from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.time_zone import time_in_words, zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.links.editing.own_link import own_link
from backend.domain.accounts.permissions import Permission
from backend.domain.durations import duration_words
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.sales.link_sales import Sale, all_sales, count_link_sales, list_sales
from backend.web.current import resources
from backend.web.file_answer import file_answer

# The number of sales on the link's own page.
LATEST = 5
_HEADINGS = ("at", "revenue", "currency", "transaction_id", "customer_id", "visit_at", "refunded")


@dataclass(frozen=True, slots=True)
class SaleRow:
    """A sale as a table shows it: `after` is the time from the visit to the sale, in words.

    `transaction` and `customer` are their ids, or "–"; `refunded` is "" where nothing was paid back.
    """

    at: str
    amount: str
    transaction: str
    customer: str
    after: str
    refunded: str


@dataclass(frozen=True, slots=True)
class SaleTable:
    """Rows of sales, and how many there are in all."""

    rows: list[SaleRow]
    total: int
    zone: ZoneInfo


@dashboard.get("/links/<link_id>/sales")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def links_sales(link_id: LinkId) -> Response:
    """One page of the link's sales, newest first."""
    link = await own_link(link_id)
    later = partial(_content, link, paging())
    return await page("links/sales.html", later=later, link=link, zone=zone_of_browser())


async def _content(link: Link, paged: Paging) -> dict[str, Any]:
    table = await sale_table(link.id, skip=paged.skip, limit=PAGE_SIZE)
    return {"sales": table, "paging": paged.with_total(table.total)}


@dashboard.get("/links/<link_id>/sales.csv")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def links_sales_csv(link_id: LinkId) -> Response:
    """All sales of the link as a file, with exact amounts."""
    link = await own_link(link_id)
    lines = _lines(all_sales(resources().database, org_id(), link.id, resources().clock()), zone_of_browser())
    name = link.path.replace("/", "-")
    headers = {"Content-Disposition": f'attachment; filename="waylink-sales-{name}.csv"'}
    return await file_answer(lines, "text/csv; charset=utf-8", headers)


async def sale_table(link_id: LinkId, *, skip: int, limit: int) -> SaleTable:
    """Sales of the organization's link, newest first, by the clock of the person who looks at them."""
    database, now, zone = resources().database, resources().clock(), zone_of_browser()
    sales = await list_sales(database, org_id(), link_id, now, skip=skip, limit=limit)
    total = await count_link_sales(database, org_id(), link_id, now)
    return SaleTable([_row(sale, zone) for sale in sales], total, zone)


def _row(sale: Sale, zone: ZoneInfo) -> SaleRow:
    return SaleRow(
        time_in_words(sale.at, zone),
        f"{amount(sale.revenue)} {sale.currency}",
        sale.transaction_id or "–",
        sale.customer_id or "–",
        duration_words(sale.at - sale.touched_at),
        amount(sale.refunded) if sale.refunded else "",
    )


async def _lines(batches: AsyncGenerator[list[Sale], None], zone: ZoneInfo) -> AsyncGenerator[bytes, None]:
    yield csv_line(_HEADINGS).encode()
    async for sales in batches:
        yield "".join(_written(sales, zone)).encode()


def _written(sales: Iterable[Sale], zone: ZoneInfo) -> Iterable[str]:
    for sale in sales:
        yield csv_line(
            [
                sale.at.astimezone(zone).isoformat(),
                f"{sale.revenue:f}",
                sale.currency,
                sale.transaction_id,
                sale.customer_id,
                sale.touched_at.astimezone(zone).isoformat(),
                f"{sale.refunded:f}",
            ]
        )
