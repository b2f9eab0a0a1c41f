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
        stood = f", as it stood before {_moment_words(self.as_of)} UTC" if self.as_of else ""
        name = MODEL_WORDS[self.model]
        credited = f"{'' if name.startswith('all ') else 'the '}{name} of {TO_WORDS[self.to]}"
        window = f"{window_words(self.lookback_days)}{stood}"
        return f"Leads, conversions and revenue are credited to {credited}, {window}."

    def knows(self, at: datetime, received_at: datetime | None) -> bool:
        """Whether the service had been told of what happened at this time."""
        return self.as_of is None or (received_at or at) < self.as_of


# What each choice is called on all pages, in forms and in sentences.
MODEL_WORDS = {
    Model.LAST_NON_DIRECT: "last non-direct touch",
    Model.LAST: "last visit, direct or not",
    Model.FIRST: "first touch",
    Model.LINEAR: "all touches alike (linear)",
    Model.POSITION_BASED: "all touches by position (40/20/40)",
}
TO_WORDS = {CreditTo.DEVICE: "the same device", CreditTo.CUSTOMER: "all devices of the customer"}


def _moment_words(at: datetime) -> str:
    """The moment, with seconds and their parts where it has any: what came a second later may not count."""
    has_seconds = at.second or at.microsecond
    return at.replace(tzinfo=None).isoformat(" ", "auto" if has_seconds else "minutes")


def window_words(days: int | None) -> str:
    """How old a touch may be."""
    if days is None:
        return "however long before"
    return f"at most {days} {'day' if days == 1 else 'days'} before"
