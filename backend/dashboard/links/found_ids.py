"""The sale and the customer whose id a text is, in the organization of the request."""

from __future__ import annotations

from dataclasses import dataclass

from backend.dashboard.frame.blueprint import org_id, permissions
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import CustomerId
from backend.storage.sales.customer_history import is_customer_known
from backend.storage.sales.found_sale import FoundSale, find_sale
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class Found:
    """What has this id; None where nothing has. Both may be there, since both ids are the organization's."""

    sale: FoundSale | None = None
    customer_id: CustomerId | None = None

    def __bool__(self) -> bool:
        return bool(self.sale or self.customer_id)


async def find_by_id(text: str) -> Found:
    """The organization's sale and customer with exactly this id.

    Nothing is found for a user who must not see persons' data.
    """
    if Permission.PERSONS_READ not in permissions():
        return Found()
    database, now, customer_id = resources().database, resources().clock(), CustomerId(text)
    is_known = await is_customer_known(database, org_id(), customer_id, now)
    return Found(await find_sale(database, org_id(), text, now), customer_id if is_known else None)
