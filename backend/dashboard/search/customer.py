"""/customer: what is known of one customer, in order: visits, leads, sales and events.

Who opens it: whoever answers a customer, or doubts what a campaign is said to have brought. They see which
visits came before a sale, and go on to the link or to the explanation of the sale's credit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from quart import Response, request

from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import CustomerId, DeviceId, LinkId
from backend.domain.sales.explanation import touch_in_words
from backend.domain.sales.records import Record
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.call_texts import as_stored
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.persons import Subject
from backend.storage.lifecycle.privacy.reach import find_reached
from backend.storage.sales.customer_history import CustomerHistory, find_customer_history
from backend.web.current import resources

# Of all that happened, the latest; the REST API has everything.
MOST_ROWS = 300
_LONGEST_ID = 256


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """Something that happened. `order` is the transaction id of a sale that has one, else "".

    `device` is the beginning of the device's id, which tells devices apart.
    """

    time: datetime
    at: str
    what: str
    details: str
    amount: str
    device: str
    link_id: LinkId | None = None
    order: str = ""


@dashboard.get("/customer")
@needs(Permission.PERSONS_READ)
async def customer() -> Response:
    """The history of the customer whose id is in the address; without one, a form that asks for it."""
    return await customer_page(customer_id_in(request.args.get("id", "")), {})


def customer_id_in(text: str) -> CustomerId:
    """The customer's id as it is stored; empty if there is none."""
    return CustomerId(as_stored(text)[:_LONGEST_ID])


async def customer_page(text: CustomerId, problems: dict[str, str]) -> Response:
    """The page about the customer, with what is wrong with its form, by field."""
    database, now = resources().database, resources().clock()
    history = await find_customer_history(database, org_id(), text, now) if text else None
    rows = sorted(_rows(history), key=lambda row: row.time, reverse=True) if history else []
    return await page(
        "search/customer.html",
        422 if problems else 404 if text and history is None else 200,
        problems=problems,
        customer_id=text,
        history=history,
        rows=rows[:MOST_ROWS],
        left_out=history is not None and (history.has_more or len(rows) > MOST_ROWS),
        sales=_number(history, Kind.CONVERSION),
        leads=_number(history, Kind.LEAD),
        revenue=_revenue(history) if history else [],
        zone=zone_of_browser(),
        reached=await _reached(text) if history else [],
    )


async def _reached(customer_id: CustomerId) -> list[str]:
    """Whom an erasure of the customer reaches, for whoever may erase."""
    if Permission.PERSONS_WRITE not in permissions():
        return []
    subject = Subject(customer_id=customer_id)
    return [reached.in_words for reached in await find_reached(resources().database, org_id(), subject)]


def _revenue(history: CustomerHistory) -> list[str]:
    return [f"{amount(paid)} {currency}" for currency, paid in history.revenue.items()]


def _number(history: CustomerHistory | None, kind: Kind) -> int:
    return sum(record.kind is kind for record in history.records) if history else 0


def _rows(history: CustomerHistory) -> Iterator[HistoryRow]:
    for at, device_id in history.identified:
        yield _row(at, "Identified on a device", device_id=device_id)
    for visit in history.visits:
        touch = visit.touch
        link = history.links.get(touch.link_id) if touch.link_id else None
        words = touch_in_words(touch, link)
        yield _row(touch.at, words, device_id=visit.device_id, link_id=link.id if link else None)
    for record in history.records:
        yield _record_row(record, history)
        for refund in history.refunds_of(record):
            paid_back = f"−{amount(refund.amount)} {refund.currency}"
            yield _row(refund.at, "Paid back", refund.refund_id, paid=paid_back)


def _record_row(record: Record, history: CustomerHistory) -> HistoryRow:
    row = partial(_row, record.at, device_id=record.device_id)
    fields = record.fields
    match record.kind:
        case Kind.CONVERSION:
            paid = f"{amount(fields['revenue'])} {fields['currency']}"
            order = fields.get("transaction_id") or ""
            return row("Sale", _source(record.credit.last, history), paid=paid, order=order)
        case Kind.LEAD:
            return row("Lead", _source(record.credit.last, history))
    return row(f"Event “{fields['name']}”", fields.get("product_id") or "")


def _source(touch: Touch | None, history: CustomerHistory) -> str:
    """The touch before a lead or a sale, which has the credit unless another model is asked for."""
    if touch is None:
        return "after no visit from a link or campaign"
    link = history.links.get(touch.link_id) if touch.link_id else None
    words = touch_in_words(touch, link)
    return f"after {words[0].lower()}{words[1:]}"


def _row(
    at: datetime,
    what: str,
    details: str = "",
    *,
    device_id: DeviceId | None = None,
    paid: str = "",
    order: str = "",
    link_id: LinkId | None = None,
) -> HistoryRow:
    shown = f"{at.astimezone(zone_of_browser()):%-d %b %Y, %H:%M:%S}"
    return HistoryRow(at, shown, what, details, paid, (device_id or "")[:8], link_id, order)
