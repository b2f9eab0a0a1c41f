"""Reads the single sales of a link: conversions whose last touch is of the link."""

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
from backend.storage.visitors.kept import kept_by
from backend.storage.visitors.records import RETENTION

_NEWEST_FIRST = [("at", DESCENDING), ("_id", DESCENDING)]
_FIELDS = dict.fromkeys(
    ("at", "touch.at", "revenue", "currency", "transaction_id", "customer_id", "device_id", refunds.FIELD), 1
)
_SALES_PER_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Sale:
    """A sale, with its customer. `touched_at` is the time of the visit that gets the credit.

    `refunded` is the sum that was paid back of its revenue.
    """

    at: datetime
    touched_at: datetime
    revenue: Decimal
    currency: str
    transaction_id: str | None
    customer_id: CustomerId | None
    refunded: Decimal


async def list_sales(
    database: Database, org_id: OrgId, link_id: LinkId, now: datetime, *, skip: int, limit: int
) -> list[Sale]:
    """The link's sales that are kept at this time, newest first: at most `limit`, after the first `skip`."""
    condition = await _of_link(database, org_id, link_id, now)
    cursor = database[conversions.NAME].find(condition, _FIELDS).sort(_NEWEST_FIRST)
    return await _sales(database, org_id, await cursor.skip(skip).limit(limit).to_list(None))


async def count_link_sales(database: Database, org_id: OrgId, link_id: LinkId, now: datetime) -> int:
    """How many sales of the link are kept at this time, by an index alone."""
    condition = await _of_link(database, org_id, link_id, now)
    return int(await database[conversions.NAME].count_documents(condition))


async def all_sales(
    database: Database, org_id: OrgId, link_id: LinkId, now: datetime
) -> AsyncGenerator[list[Sale], None]:
    """All sales of the link that are kept at this time, newest first, in batches."""
    condition = await _of_link(database, org_id, link_id, now)
    cursor = database[conversions.NAME].find(condition, _FIELDS).sort(_NEWEST_FIRST)
    while documents := await cursor.to_list(_SALES_PER_BATCH):
        yield await _sales(database, org_id, documents)


async def _of_link(database: Database, org_id: OrgId, link_id: LinkId, now: datetime) -> Document:
    kept = await kept_by(database, org_id, now)
    return {"org_id": org_id, "touch.link_id": link_id} | kept.condition(RETENTION)


async def _sales(database: Database, org_id: OrgId, documents: Sequence[Document]) -> list[Sale]:
    customers = await customers_of(database, org_id, documents)
    return [_sale(document, customer_id) for document, customer_id in zip(documents, customers, strict=True)]


def _sale(document: Document, customer_id: CustomerId | None) -> Sale:
    return Sale(
        document["at"],
        document["touch"]["at"],
        document["revenue"].to_decimal(),
        document["currency"],
        document.get("transaction_id"),
        customer_id,
        refunds.refunded_of(document),
    )
