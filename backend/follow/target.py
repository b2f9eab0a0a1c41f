"""Targets: what a feed is written into. Each keeps the cursor beside what it was given."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import OrgId


@dataclass(frozen=True, slots=True)
class Followed:
    """What is followed: the events of these types in an organization's feed.

    `after` is where a target begins that has no cursor yet.
    """

    org_id: OrgId
    types: Set[EventType]
    after: Cursor

    @property
    def named_types(self) -> list[str] | None:
        """The types by name, in one order; None for all, also those that later versions add."""
        return sorted(self.types) if self.types < frozenset(EventType) else None


class TargetAway(OperatorError):
    """The target can't be reached now. What was not confirmed is written once it is back."""


class TargetTaken(OperatorError):
    """Another follower writes into the target."""


class TargetMismatch(OperatorError):
    """The target holds something else than what is to be written into it."""


class FeedTarget(Protocol):
    """What a feed is written into. Events and the cursor behind them are kept together, or neither."""

    # Types that it needs to see whatever was asked for.
    needs: Set[EventType]

    async def open(self, followed: Followed) -> Cursor:
        """Begin to write, and give the cursor behind all that is there.

        Raises TargetAway, TargetTaken, and TargetMismatch where it holds something else.
        """

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write these events, which follow those before, and the cursor behind them.

        Raises TargetAway, TargetTaken, and OperatorError where the target refuses them.
        """

    async def close(self) -> None:
        """End the writing, and let another follower go on. Nothing happens where it is not open."""


def check_same(kept_org: str, kept_types: Sequence[str] | None, followed: Followed, name: str) -> None:
    """Refuse to write another organization's events, or other types, behind what the target has.

    Raises TargetMismatch.
    """
    if kept_org != followed.org_id:
        raise TargetMismatch(f"{name} has events of the organization {kept_org}. Name another target.")
    if kept_types != followed.named_types:
        begun = f"--types {','.join(kept_types)}" if kept_types is not None else "all types, without --types"
        raise TargetMismatch(
            f"{name} was begun with {begun}. Go on with these, or begin another target: "
            "this one would lack what other types had before."
        )
