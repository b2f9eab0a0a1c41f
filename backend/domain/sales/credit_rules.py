"""The rules by which credit is given: to whose touches, to which of them, and as of when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import InvalidField

MOST_LOOKBACK_DAYS = 3_660


class CreditTo(StrEnum):
    """Whose touches get the credit."""

    DEVICE = "device"
    CUSTOMER = "customer"


class Model(StrEnum):
    """Which touches get the credit, and how much each."""

    LAST_NON_DIRECT = "last_non_direct"
    LAST = "last"
    FIRST = "first"
    LINEAR = "linear"
    POSITION_BASED = "position_based"


@dataclass(frozen=True, slots=True)
class CreditRules:
    """How credit is given.

    Touches count if they happened at most `lookback_days` before the sale; None means without limit. With
    `as_of`, only what the service had been told before that time counts.
    """

    to: CreditTo = CreditTo.DEVICE
    model: Model = Model.LAST_NON_DIRECT
    lookback_days: int | None = None
    as_of: datetime | None = None

    def __post_init__(self) -> None:
        """Raises InvalidField."""
        if self.lookback_days is not None and not 1 <= self.lookback_days <= MOST_LOOKBACK_DAYS:
            raise InvalidField("lookback_days", f"must be a whole number from 1 to {MOST_LOOKBACK_DAYS}")

    @property
    def in_words(self) -> str:
        """A sentence that says the rules."""
        whose = "the same device" if self.to is CreditTo.DEVICE else "all devices of the customer"
        days = self.lookback_days
        window = f"at most {days} {'day' if days == 1 else 'days'} before" if days else "however long before"
        stood = f", as it stood before {self.as_of:%Y-%m-%d %H:%M} UTC" if self.as_of else ""
        credited = f"{_WORDS[self.model]} of {whose}, {window}{stood}"
        return f"Leads, conversions and revenue are credited to {credited}."

    def knows(self, at: datetime, received_at: datetime | None) -> bool:
        """Whether the service had been told of what happened at this time."""
        return self.as_of is None or (received_at or at) < self.as_of


_WORDS = {
    Model.LAST_NON_DIRECT: "the last touch (direct visits are none)",
    Model.LAST: "the last visit (nobody where that was a direct one)",
    Model.FIRST: "the first touch",
    Model.LINEAR: "all touches in equal parts",
    Model.POSITION_BASED: "the first and the last touch (40% each) and those between them (20%)",
}
