"""Parts of customers over time, which a number counts: a cell of cohorts, or some sales of a period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from backend.domain.ids import CustomerId


@dataclass(frozen=True, slots=True)
class CohortCell:
    """What the customers of the cohort `label` bought in a week after their first touch.

    `week` is None for all that they bought until now. With `is_summed`, earlier weeks count too.
    """

    label: str
    week: int | None = None
    is_summed: bool = False


class CustomersOf(StrEnum):
    """The sales of a period, by whether their customer had bought before."""

    NEW = "new"
    RETURNING = "returning"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """The sales of a period that came in the bucket of this number after a click; None: without any touch."""

    number: int | None


SoldPart = CohortCell | CustomersOf | TimeBucket


@dataclass(frozen=True, slots=True)
class SoldRow:
    """A sale of a part. `touched_at` is the time that the part goes by, None where there is none.

    In a cohort that is the customer's first touch, else the touch that the sale is credited to.
    """

    at: datetime
    transaction_id: str | None
    customer_id: CustomerId | None
    currency: str
    amount: Decimal
    refunded: Decimal
    touched_at: datetime | None


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """What a customer bought in a part: how often, for how much by currency, and when first and last."""

    customer_id: CustomerId
    conversions: int
    revenue: dict[str, Decimal]
    first_at: datetime
    last_at: datetime
    touched_at: datetime | None
