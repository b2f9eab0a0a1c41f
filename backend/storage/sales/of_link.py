"""Reads the single sales that a link gets the credit for: conversions whose last touch is of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pymongo import DESCENDING

from backend.domain.ids import CustomerId, LinkId, OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.sales import conversions, refunds
from backend.storage.sales.customers import customers_of

_NEWEST_FIRST = [("at", DESCENDING), ("_id", DESCENDING)]
_FIELDS = dict.fromkeys(
    ("at", "touch.at", "revenue", "currency", "transaction_id", "customer_id", "device_id", refunds.FIELD), 1
)
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Sale:
    """A sale: when it was, of how much, whose it is, and when the visit was that gets the credit.

    `refunded` is what was paid back of its revenue.
    """

    at: datetime
    touched_at: datetime
    revenue: Decimal
    currency: str
    transaction_id: str | None
    customer_id: CustomerId | None
    refunded: Decimal


async def list_sales(
    database: Database, org_id: OrgId, link_id: LinkId, *, skip: int, limit: int
) -> list[Sale]:
    """The link's sales, newest first: at most `limit`, after the first `skip`."""
    cursor = database[conversions.NAME].find(_of_link(org_id, link_id), _FIELDS).sort(_NEWEST_FIRST)
    return await _sales(database, org_id, await cursor.skip(skip).limit(limit).to_list(None))


async def count_link_sales(database: Database, org_id: OrgId, link_id: LinkId) -> int:
    """How many sales the link has, by an index alone."""
    return int(await database[conversions.NAME].count_documents(_of_link(org_id, link_id)))


async def all_sales(database: Database, org_id: OrgId, link_id: LinkId) -> AsyncGenerator[list[Sale], None]:
    """All sales of the link, newest first, many at a time."""
    cursor = database[conversions.NAME].find(_of_link(org_id, link_id), _FIELDS).sort(_NEWEST_FIRST)
    while found := await cursor.to_list(_AT_ONCE):
        yield await _sales(database, org_id, found)


def _of_link(org_id: OrgId, link_id: LinkId) -> Document:
    return {"org_id": org_id, "touch.link_id": link_id}


async def _sales(database: Database, org_id: OrgId, found: Sequence[Document]) -> list[Sale]:
    customers = await customers_of(database, org_id, found)
    return [_sale(*each) for each in zip(found, customers, strict=True)]


def _sale(found: Document, customer_id: CustomerId | None) -> Sale:
    return Sale(
        found["at"],
        found["touch"]["at"],
        found["revenue"].to_decimal(),
        found["currency"],
        found.get("transaction_id"),
        customer_id,
        sum((each.amount for each in refunds.refunds_of(found)), Decimal()),
    )
