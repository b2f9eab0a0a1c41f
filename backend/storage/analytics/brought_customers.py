"""Who came by which link: customers by the link of their first touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.clicks.block import moment
from backend.domain.ids import CustomerId, LinkId
from backend.storage.analytics.question import Facts, Question

MOST_CUSTOMERS = 100  # that are named of a link
# A device is a customer's from an identity to the next one, and before its first one the customer's of that
# one (docs/decisions/credit.md, "Whose"). Of touches at one time the device's and the list's order decide.
_BROUGHT = """
WITH standing AS (
    SELECT entry, number, "at", customer FROM identities
    WHERE taken_back_at IS NULL AND replaced_at IS NULL
), spans AS (
    SELECT entry, customer, since, lead(since, 1, (2**62)::BIGINT) OVER of_device AS until FROM (
        SELECT entry, (-(2**62))::BIGINT AS since, arg_min(customer, number) AS customer
        FROM standing GROUP BY entry
        UNION ALL
        SELECT entry, "at", arg_max(customer, number) FROM standing GROUP BY entry, "at"
    ) WINDOW of_device AS (PARTITION BY entry ORDER BY since)
), firsts AS (
    SELECT customer, link, visits."at" FROM spans JOIN visits ON visits.entry = spans.entry
        AND visits."at" >= since AND visits."at" < until
    WHERE is_touch AND customer <> ''
    QUALIFY row_number() OVER (PARTITION BY customer ORDER BY visits."at", device, visits.number) = 1
)
SELECT id, customer, "at", count(*) OVER (PARTITION BY id) FROM firsts JOIN links USING (link)
WHERE id IN (SELECT unnest($links::VARCHAR[]))
QUALIFY row_number() OVER (PARTITION BY id ORDER BY "at", customer) <= $most
ORDER BY id, "at", customer
"""


@dataclass(frozen=True, slots=True)
class Brought:
    """How many customers a link has brought, and the first of them with the times when they came."""

    count: int = 0
    customers: tuple[tuple[CustomerId, datetime], ...] = ()


@dataclass(frozen=True, slots=True)
class BroughtCustomers(Question[dict[LinkId, Brought]]):
    """The customers whose first touch is of one of these links. Links that brought nobody are left out."""

    link_ids: Sequence[LinkId]

    def answer(self, facts: Facts) -> dict[LinkId, Brought]:
        """The customers by link, in the order in which they came."""
        values = {"links": list(self.link_ids), "most": MOST_CUSTOMERS}
        brought: dict[LinkId, Brought] = {}
        for link_id, customer, at, count in facts.connection.execute(_BROUGHT, values).fetchall():
            before = brought.get(link_id, Brought()).customers
            brought[LinkId(link_id)] = Brought(count, (*before, (CustomerId(customer), moment(at))))
        return brought
