"""Links of campaigns with clicks and sales, and what pages of analytics say of them."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

from backend.domain.ids import DeviceId, LinkId
from backend.domain.links.links import Link
from backend.domain.sales.refunds import Refund, ToldRefund
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import parse_call
from backend.domain.visitors.sources import source_of
from backend.storage.driver.mongo import Database
from backend.storage.sales.batches import store_batches
from backend.storage.sales.refunds import store_refunds
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links

NOON = datetime(2026, 3, 18, 12, 10, tzinfo=UTC)  # a Wednesday


async def make_link(
    database: Database, organization: TestOrganization, name: str, now: datetime, **utm: str
) -> Link:
    """Store a link of this name."""
    link_id = LinkId(str(uuid.uuid4()))
    made = Link(
        link_id, organization.id, organization.domain, link_id, "https://a.example/", name, now, now, utm=utm
    )
    await insert_links(database, [made])
    return made


async def clicked(
    database: Database, link: Link, at: datetime, number: int = 1, country: str | None = None
) -> None:
    """So many people click on the link."""
    made = [
        click(link.org_id, link.id, at, country=country, visitor=int(at.timestamp()) % 10**6 + visitor_number)
        for visitor_number in range(number)
    ]
    await ship(database, made)


async def bought(
    database: Database,
    link: Link,
    at: datetime,
    revenue: str,
    currency: str = "EUR",
    *,
    after: Link | None = None,
    refunded: str | None = None,
    order: str | None = None,
    customer: str | None = None,
) -> None:
    """Somebody buys for so much after a visit by the link, and before that one by the link `after`.

    Of that, `refunded` is paid back. With `order`, the sale has this order id, and with `customer` it is this
    customer's.
    """
    shared = {"occurred_at": at.isoformat()}
    order = order or (str(uuid.uuid4()) if refunded else None)
    visits = [
        ArrivedCall(
            parse_call(
                {"kind": "attribution", "call_id": str(uuid.uuid4()), "occurred_at": moment.isoformat()}
            ),
            source_of({}, touched_link),
        )
        for moment, touched_link in ((at - timedelta(milliseconds=1), after), (at, link))
        if touched_link
    ]
    sale = {"kind": "conversion", "call_id": str(uuid.uuid4()), "currency": currency}
    sale |= {"transaction_id": order} if order else {}
    sale |= {"customer_id": customer} if customer else {}
    sold = ArrivedCall(parse_call(sale | shared | {"revenue": Decimal(revenue)}))
    batch = Batch(link.org_id, DeviceId(str(uuid.uuid4())), at, at, (*visits, sold))
    await store_batches(database, [batch])
    if refunded and order:
        refund = Refund(f"refund of {order}", Decimal(refunded), currency, at, at)
        (result,) = await store_refunds(database, [ToldRefund(link.org_id, order, refund)])
        assert result.error is None


async def sold_by_nobody(
    database: Database, organization: TestOrganization, at: datetime, revenue: str
) -> None:
    """Somebody buys for so much whom nothing has led to it."""
    sale = {
        "kind": "conversion",
        "call_id": str(uuid.uuid4()),
        "currency": "EUR",
        "revenue": Decimal(revenue),
    }
    sold = ArrivedCall(parse_call(sale | {"occurred_at": at.isoformat()}))
    await store_batches(database, [Batch(organization.id, DeviceId(str(uuid.uuid4())), at, at, (sold,))])


def figures(page: str) -> dict[str, tuple[str, str]]:
    """The figures by their names: the number, and how it changed."""
    figures_by_name = {}
    for item in page.partition('<ul class="measures')[2].partition("</ul>")[0].split("<li")[1:]:
        name = text(re.search(r'measure-name">(.*?)</span>', item))
        change = re.search(r'<span class="change.*?(?=\s*<span class="spark|\s*</a>|\s*</div>)', item, re.S)
        figures_by_name[name] = (text(re.search(r'measure-number">(.*?)</span>', item)), text(change))
    return figures_by_name


def text(match: re.Match[str] | None) -> str:
    """What people read of what was found."""
    return words(match[1 if match.re.groups else 0]) if match else ""


def table(page: str, title: str) -> list[list[str]]:
    """The rows of a table of this title."""
    card = next((section for section in page.split("<section")[1:] if f">{title}</h2>" in section), "")
    return rows(card)


def rows(html: str, *, with_changes: bool = False) -> list[list[str]]:
    """The rows of the first table, without how their numbers changed unless `with_changes`."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    if not with_changes:
        body = re.sub(r'<span class="change.*?</span>(?=\s*</span></td>)', "", body, flags=re.S)
    body = re.sub(r'<a class="to-link.*?</a>', "", body, flags=re.S)
    cells_by_row = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("<tr>")[1:]]
    return [[words(cell) for cell in row] for row in cells_by_row]


def words(html: str) -> str:
    """What people read of this."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", html.replace("<br>", " "))).split())


def address(page: str, words: str) -> str:
    """Where the link with these words leads."""
    match = re.search(rf'<a [^>]*?href="([^"]+)"[^>]*>{re.escape(words)}</a>', page)
    assert match, f"no link {words!r}"
    return unescape(match[1])
