"""Finds a sale by its transaction_id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from backend.domain.ids import CustomerId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.sales import conversions
from backend.storage.sales.customers import customers_of
from backend.storage.visitors import records
from backend.storage.visitors.kept import kept_by

_FIELDS = dict.fromkeys(("at", "revenue", "currency", "transaction_id", "customer_id", "device_id"), 1)


@dataclass(frozen=True, slots=True)
class FoundSale:
    """A sale, with its customer if that is known."""

    transaction_id: str
    at: datetime
    revenue: Decimal
    currency: str
    customer_id: CustomerId | None


async def find_sale(
    database: Database, org_id: OrgId, transaction_id: str, now: datetime
) -> FoundSale | None:
    """The organization's sale with this transaction_id; None if there is none that is kept at this time."""
    condition = records.having(org_id, "transaction_id", [transaction_id])
    condition |= (await kept_by(database, org_id, now)).condition(records.RETENTION)
    document = await database[conversions.NAME].find_one(condition, _FIELDS)
    if document is None:
        return None
    (customer_id,) = await customers_of(database, org_id, [document])
    return FoundSale(
        document["transaction_id"],
        document["at"],
        document["revenue"].to_decimal(),
        document["currency"],
        customer_id,
    )
