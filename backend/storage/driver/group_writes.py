"""Group commit for MongoDB, within the deadlines of the requests that wait for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from backend.concurrency.group_commit import GroupCommit, ItemT, ResultT
from backend.storage.driver.deadlines import new_deadline, seconds_left
from backend.storage.driver.lanes import owned_by_nobody
from backend.storage.driver.mongo import is_unreachable


class GroupWrites(GroupCommit[ItemT, ResultT]):
    """Writes items that arrive together with one call of `store`, within the deadlines of their requests."""

    def __init__(
        self,
        store: Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT]]],
        owner_of: Callable[[ItemT], Hashable],
        size_of: Callable[[ItemT], int] = lambda _: 1,
    ) -> None:
        super().__init__(store, is_unreachable, owner_of, size_of)

    def seconds_left(self) -> float:
        """The time until the deadline of the current request."""
        return seconds_left()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """A block with so many seconds, whatever the deadline of the request whose task runs the group, and
        whosever that is."""
        with new_deadline(seconds), owned_by_nobody():
            yield
