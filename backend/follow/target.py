"""Targets of a feed. Each target keeps the cursor beside the events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from backend.domain.errors import OperatorError
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import USUAL_TYPES, Event, EventType
from backend.domain.ids import OrgId
from backend.storage.outbox.marks import FeedPutBack


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


ERASE_AGAIN = "People who were erased since the backup are in MongoDB again: erase them again."


class TargetAway(OperatorError):
    """The target can't be reached now. Unconfirmed events are written once it is back."""


class TargetTaken(OperatorError):
    """Another follower writes into the target."""


class TargetMismatch(OperatorError):
    """The target has events of another feed or of other types."""


class FeedLost(OperatorError):
    """The feed has not what was read up to the cursor, and the target can't be brought in line with it."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """How many events were deleted from a target, and how many of them were erasures."""

    events: int
    erasures: int


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

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """The ids of the last entries of the feed up to this place that the target has events of, by place.

        At most `limit`. An empty answer says that it has no earlier ones.
        """

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Delete the events behind this cursor, since the feed has others there, and store the cursor.

        Raises FeedLost if what was written can't be taken back, TargetAway and TargetTaken.
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


def entry_of(event_id: str) -> str:
    """The id of the feed's entry that has the event with this id."""
    return event_id.rpartition("-")[0]


def not_given(put_back: FeedPutBack) -> FeedLost:
    """The error for a cursor that the feed has not given, or not any more."""
    cursor, common = put_back.cursor, put_back.common
    if common is None:
        return FeedLost(
            f"The cursor {cursor} is behind the end of this organization's feed, which has not given it. Was "
            "MongoDB put back from a backup? Begin a new target."
        )
    return FeedLost(
        f"This organization's feed has not what was before the cursor {cursor}: MongoDB was put back from a "
        f"backup. Both are the same up to {common}: go on with --after {common}."
    )


def begin_another(name: str, cursor: Cursor) -> FeedLost:
    """The error for lines that were written behind this cursor, and can't be taken back."""
    stored_at = f", stored at {cursor.mark.stored_at:%Y-%m-%d %H:%M:%S} UTC" if cursor.mark else ""
    return FeedLost(
        f"MongoDB was put back from a backup, and {name} has events that Waylink has no more. Both are the "
        f"same up to the cursor {cursor}{stored_at}. Begin another target with --after {cursor}, which gets "
        f"what came since. {ERASE_AGAIN}"
    )
