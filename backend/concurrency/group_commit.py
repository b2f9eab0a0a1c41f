"""Group commit: items that arrive during a write are stored together by the next write."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from math import inf
from operator import attrgetter
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
AnyT = TypeVar("AnyT")


class NotStored(ConnectionError):
    """The database is out of reach or too slow, or too many items wait. The sender may try again."""


@dataclass(slots=True)
class _Waiting(Generic[ItemT, ResultT]):
    """An item with its owner, its size, and how many bytes it takes; its turn; its result once it is stored;
    and until when its sender waits (by the loop's clock).

    `is_refused` says that the sender was told that the item was not stored. The clock can't say so, since a
    timer may fire a little early. `is_set_aside` says that the item's group failed, and that its owner's part
    of it is tried by itself.
    """

    item: ItemT
    owner: Hashable
    size: int
    bytes: int
    turn: int
    stored: asyncio.Future[ResultT]
    ends: float
    is_refused: bool = False
    is_set_aside: bool = False


@dataclass(slots=True)
class _Line:
    """What waits of one owner: how many items, how many bytes they take, and the turn of the next one."""

    items: int = 0
    bytes: int = 0
    next_turn: int = 0


class GroupCommit(Generic[ItemT, ResultT]):
    """Stores items that arrive together with one call of `store`.

    Each caller waits until its item is stored, within its own time: for the groups before, and for its own. A
    group may take as long as the last of its callers waits. Owners take turns: one who sends much neither
    keeps the others waiting nor takes their room.
    """

    GATHER = 0.002  # seconds that the first item of a group waits for others
    # Storing a group costs as much as storing this many items, so smaller groups are not divided.
    WORTH_A_GROUP = 20
    # Beyond this size a group takes longer without costing less an item.
    MOST_IN_GROUP = 512
    # What may wait of one owner: so many items, and so many bytes of what was sent.
    MOST_WAITING = 1000
    MOST_BYTES_WAITING = 16_000_000
    MOST_BYTES_IN_GROUP = 4_000_000
    # While one group waits for the disks of a majority, other groups can be sent. They have to be full, since
    # dividing the same items among more groups costs more.
    MOST_WRITERS = 4
    # For which items of an owner are tried by themselves, where some of them can't be stored.
    SECONDS_FOR_BAD = 1.0

    def __init__(
        self,
        store: Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT]]],
        is_unreachable: Callable[[Exception], bool],
        owner_of: Callable[[ItemT], Hashable],
        size_of: Callable[[ItemT], int] = lambda _: 1,
    ) -> None:
        """`store` returns a result for each item, in order.

        `is_unreachable` says if an error is only temporary, `owner_of` who takes turns with others, such as
        an organization, and `size_of` how much of a group an item takes.
        """
        self._store = store
        self._is_unreachable = is_unreachable
        self._owner_of = owner_of
        self._size_of = size_of
        self._waiting: list[_Waiting[ItemT, ResultT]] = []
        self._waiting_size = 0
        self._lines: dict[Hashable, _Line] = {}  # of owners of whom something waits
        self._turn = 0  # of the last item that was taken
        self._is_gathering = False
        self._writers: set[asyncio.Task[None]] = set()
        self._aside: dict[Hashable, asyncio.Task[None]] = {}  # by owner, what was set aside last

    def seconds_left(self) -> float:
        """How long the current caller waits at most."""
        return inf

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """A block that has so many seconds to store a group."""
        return nullcontext()

    async def add(self, item: ItemT, sent_bytes: int) -> ResultT:
        """Store the item, of which so many bytes were sent, together with others, and return its result.

        Raises NotStored, also once the caller's time is over or where too much of its owner waits, or the
        error that `store` raised for this item.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.seconds_left()
        waiting = self._queue(item, sent_bytes, loop.create_future(), ends)
        if not self._is_gathering and self._may_write(len(self._writers)):
            self._start_writer()
        try:
            async with asyncio.timeout_at(None if ends == inf else ends):
                return await waiting.stored
        except TimeoutError:
            waiting.is_refused = True
            raise NotStored from None

    def _queue(
        self, item: ItemT, sent_bytes: int, stored: asyncio.Future[ResultT], ends: float
    ) -> _Waiting[ItemT, ResultT]:
        """Let the item wait for its turn. Raises NotStored if too much of its owner waits."""
        owner, size = self._owner_of(item), self._size_of(item)
        line = self._lines.get(owner) or _Line()
        if line.items >= self.MOST_WAITING or line.bytes + sent_bytes > self.MOST_BYTES_WAITING:
            raise NotStored
        turn = max(self._turn, line.next_turn)
        line.items, line.bytes, line.next_turn = line.items + 1, line.bytes + sent_bytes, turn + size
        waiting = _Waiting(item, owner, size, sent_bytes, turn, stored, ends)
        self._lines[owner] = line
        self._waiting.append(waiting)
        self._waiting_size += size
        return waiting

    def _may_write(self, others: int) -> bool:
        """Whether what waits is to be written beside this many others."""
        is_full = self._waiting_size >= self.MOST_IN_GROUP
        return not others or (is_full and others < self.MOST_WRITERS)

    def _start_writer(self) -> None:
        self._is_gathering = True
        writer = asyncio.create_task(self._write())
        self._writers.add(writer)
        writer.add_done_callback(self._writers.discard)

    async def _write(self) -> None:
        writer = asyncio.current_task()
        assert writer is not None  # it runs in a task of its own
        await asyncio.sleep(self.GATHER)
        self._is_gathering = False
        answered = 0
        while self._waiting and self._may_write(others := len(self._writers) - 1):
            waiting = self._waiting_size
            group = self._take_group(self.MOST_IN_GROUP if others else self._half(answered))
            answered = waiting - self._waiting_size
            await self._commit(group)
        # Not only when the task is done, a moment later: an item that came in between would wait for nobody.
        self._writers.discard(writer)

    def _half(self, answered: int) -> int:
        """The size of the next group, if the one before had `answered` items, whose senders come again.

        Then the items of one half of all senders are stored while the other half is answered and sends again.
        In a single group, all senders would wait for the database, and then the database for all senders.
        """
        half = (self._waiting_size + answered + 1) // 2
        return min(self.MOST_IN_GROUP, max(self.WORTH_A_GROUP, half))

    def _take_group(self, most: int) -> list[_Waiting[ItemT, ResultT]]:
        """The items whose turn it is, at least one, of this size together at most."""
        # Of those with one turn, the one that has waited longest comes first.
        self._waiting.sort(key=attrgetter("turn"))
        size = sent_bytes = number = 0
        for waiting in self._waiting:
            size += waiting.size
            sent_bytes += waiting.bytes
            if number and (size > most or sent_bytes > self.MOST_BYTES_IN_GROUP):
                break
            number += 1
        group, self._waiting = self._waiting[:number], self._waiting[number:]
        for waiting in group:
            self._leave_line(waiting)
        return group

    def _leave_line(self, waiting: _Waiting[ItemT, ResultT]) -> None:
        line = self._lines[waiting.owner]
        line.items -= 1
        line.bytes -= waiting.bytes
        if not line.items:
            del self._lines[waiting.owner]
        self._turn = waiting.turn
        self._waiting_size -= waiting.size

    async def _commit(self, group: Sequence[_Waiting[ItemT, ResultT]]) -> None:
        try:
            if error := await self._error_of(group):
                await self._store_apart(group, error)
        finally:
            # Whatever happens, nobody waits for what nobody does any more.
            _fail([waiting for waiting in group if not waiting.is_set_aside], NotStored())

    async def _error_of(self, members: Sequence[_Waiting[ItemT, ResultT]]) -> Exception | None:
        """Store these items, and answer. Returns the error if one of them may be to blame for it."""
        now = asyncio.get_running_loop().time()
        # Callers who no longer wait were told that nothing was stored.
        group = [waiting for waiting in members if waiting.ends > now and not waiting.is_refused]
        if not group:
            return None
        try:
            with self.within(max(waiting.ends for waiting in group) - now):
                results = await self._store([waiting.item for waiting in group])
        except asyncio.CancelledError:
            if (writer := asyncio.current_task()) and writer.cancelling():
                raise  # else something within `store` was, and the writer goes on
        except Exception as error:
            return None if self._is_unreachable(error) else error
        else:
            _answer(group, results)
        return None

    async def _store_apart(self, group: Sequence[_Waiting[ItemT, ResultT]], error: Exception) -> None:
        """Store a group that failed in parts: one bad item may have made all of them fail.

        Owners are parted first, so that those without a bad item have soon been answered.
        """
        by_owner: defaultdict[Hashable, list[_Waiting[ItemT, ResultT]]] = defaultdict(list)
        for waiting in group:
            by_owner[waiting.owner].append(waiting)
        if len(by_owner) == 1:
            self._set_aside(group, error)
        else:
            parts = (list(chain(*some)) for some in _halves([*by_owner.values()]))
            await asyncio.gather(*map(self._commit, parts))

    def _set_aside(self, group: Sequence[_Waiting[ItemT, ResultT]], error: Exception) -> None:
        """Try an owner's group that failed in parts, while the next groups are stored. Of an owner, one group
        after the other is tried so."""
        for waiting in group:
            waiting.is_set_aside = True
        owner = group[0].owner
        trying = asyncio.create_task(self._store_of_one(group, error, self._aside.get(owner)))
        self._aside[owner] = trying
        trying.add_done_callback(lambda ended: self._aside.get(owner) is ended and self._aside.pop(owner))

    async def _store_of_one(
        self,
        group: Sequence[_Waiting[ItemT, ResultT]],
        error: Exception,
        former: asyncio.Task[None] | None,
    ) -> None:
        """Store what can be stored of an owner's group, once the `former` one is done."""
        try:
            if former:
                await asyncio.wait([former])
            await self._store_halves(group, error)
        finally:
            _fail(group, NotStored())

    async def _store_halves(self, group: Sequence[_Waiting[ItemT, ResultT]], error: Exception) -> None:
        """For SECONDS_FOR_BAD at most. The rest is to be sent again."""
        loop = asyncio.get_running_loop()
        until, failed = loop.time() + self.SECONDS_FOR_BAD, deque([(group, error)])
        while failed and loop.time() < until:
            part, error = failed.popleft()
            if len(part) == 1:
                _fail(part, error)
                continue
            for half in _halves(part):
                if error_of_half := await self._error_of(half):
                    failed.append((half, error_of_half))


def _halves(items: Sequence[AnyT]) -> tuple[Sequence[AnyT], Sequence[AnyT]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]


def _answer(group: Sequence[_Waiting[ItemT, ResultT]], results: Sequence[ResultT]) -> None:
    if len(results) != len(group):  # nobody can tell whose are missing
        _fail(group, ValueError(f"{len(results)} results for {len(group)} items"))
    for waiting, result in zip(group, results, strict=False):
        if not waiting.stored.done():  # the request may have been given up
            waiting.stored.set_result(result)


def _fail(group: Sequence[_Waiting[ItemT, ResultT]], error: Exception) -> None:
    for waiting in group:
        if not waiting.stored.done():
            waiting.stored.set_exception(error)
