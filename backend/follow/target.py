"""Targets of a feed. Each target keeps the cursor beside the events."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.ids import OrgId


@dataclass(frozen=True, slots=True)
class FollowedFeed:
    """The followed feed: the events of these types of an organization.

    A target without a cursor begins at `after`.
    """

    org_id: OrgId
    types: Set[EventType]
    after: Cursor

    @property
    def named_types(self) -> list[str] | None:
        """The types by name, in one order; None for the usual ones, also those that later versions add."""
        return None if self.types == USUAL_TYPES else sorted(self.types)


class TargetAway(OperatorError):
    """The target can't be reached now. Unconfirmed events are written once it is back."""


class TargetTaken(OperatorError):
    """Another follower writes into the target."""


class TargetMismatch(OperatorError):
    """The target has events of another feed or of other types."""


class FeedTarget(Protocol):
    """A target of a feed. It stores events and the cursor behind them together, or neither."""

    # Types that the target needs in addition to the followed ones.
    needs: Set[EventType]

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Open the target, and return the cursor behind its last event.

        Raises TargetAway, TargetTaken, and TargetMismatch if it has events of another feed or other types.
        """

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write the next events, and the cursor behind them.

        Raises TargetAway, TargetTaken, and OperatorError if the target refuses the events.
        """

    async def close(self) -> None:
        """Close the target, so that another follower can open it. Does nothing if it is not open."""


def check_same(kept_org: str, kept_types: Sequence[str] | None, followed: FollowedFeed, name: str) -> None:
    """Raise TargetMismatch unless the target has events of the followed organization and types."""
    if kept_org != followed.org_id:
        raise TargetMismatch(f"{name} has events of the organization {kept_org}. Name another target.")
    if kept_types != followed.named_types:
        begun = f"--types {','.join(kept_types)}" if kept_types is not None else "all types, without --types"
        raise TargetMismatch(
            f"{name} was begun with {begun}. Go on with these, or begin another target: "
            "this one would lack what other types had before."
        )
