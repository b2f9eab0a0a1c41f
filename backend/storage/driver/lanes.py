"""Lanes: separate thread pools (bulkheads) for calls of MongoDB, so that no kind of work blocks another.

Motor runs every call in one pool of a few threads. If the server hangs, all these threads are blocked, and
visitors wait behind any other work. Here each kind of work has its own threads, and while MongoDB is known to
hang, calls fail at once. Organizations take turns in a lane, and none has more than half of its threads. The
threads are daemons, so a process can end while they wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

import motor.frameworks.asyncio as motor_asyncio
from pymongo.errors import AutoReconnect

_Call = tuple["Future[Any]", Callable[[], Any]]
_NOBODY = None  # the owner of calls that are not one organization's
_ResultT = TypeVar("_ResultT")


class StorageAway(AutoReconnect):
    """MongoDB does not answer now. The operation may or may not have been carried out."""

    def __init__(self) -> None:
        super().__init__("MongoDB does not answer")


class Lane:
    """At most `size` threads for the MongoDB calls that are made inside `with lane.used()`.

    At most `most_waiting` calls wait for a thread: more could not be answered in time. Of one owner, such as
    an organization, they may be half.
    """

    def __init__(self, name: str, size: int, most_waiting: int) -> None:
        self._name = name
        self._size = size
        self._most_waiting = most_waiting
        # The calls of owners who wait, in the order of their turns, and how many threads each owner has.
        self._lines: dict[Hashable, deque[_Call]] = {}
        self._busy: Counter[Hashable] = Counter()
        self._threads = self._idle = 0  # those that are not woken yet
        self._waiting: set[Future[Any]] = set()
        self._changed = threading.Condition()
        self._is_away = self._is_closed = False

    @contextlib.contextmanager
    def used(self, owner: Hashable) -> Iterator[None]:
        """All MongoDB calls of this block, and of tasks started in it, use this lane.

        They are this owner's, until it is known that they are another one's (`owned_by`); with None, they are
        not one owner's.
        """
        token, former = _lane.set(self), _owner.set(owner)
        try:
            yield
        finally:
            _owner.reset(former)
            _lane.reset(token)

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Run the call in a thread of this lane; the future has its result.

        The future fails with StorageAway if MongoDB is away or too many calls wait.
        """
        answer: Future[Any] = Future()
        owner = _owner.get()
        with self._changed:
            line = self._lines.get(owner) or deque()
            is_refused = self._is_away or len(self._waiting) >= self._most_waiting
            if is_refused or len(line) >= _part_of(self._most_waiting, owner):
                _settle(answer, StorageAway())
                return answer
            self._waiting.add(answer)
            line.append((answer, call))
            self._lines[owner] = line
            self._wake_one()
        return answer

    def _wake_one(self) -> None:
        """Have a thread look for a call, a new one if all are busy and there may be more."""
        if self._idle:
            self._idle -= 1
            self._changed.notify()
        elif self._threads < self._size:
            self._threads += 1
            threading.Thread(target=self._work, name=f"mongodb-{self._name}", daemon=True).start()

    def away(self) -> None:
        """Note that MongoDB does not answer: waiting and new calls fail at once with StorageAway."""
        with self._changed:
            self._is_away = True
            waiting, self._waiting = self._waiting, set()
            self._lines.clear()
        for answer in waiting:
            _settle(answer, StorageAway())

    def back(self) -> None:
        """Note that MongoDB answers again."""
        self._is_away = False

    def close(self) -> None:
        """End each thread as soon as its current call returns."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while taken := self._take():
            owner, (answer, call) = taken
            del taken
            if not answer.done():  # otherwise the caller has given up
                try:
                    _settle(answer, result=call())
                except BaseException as error:
                    _settle(answer, error)
            self._end(owner, answer)
            del answer, call

    def _take(self) -> tuple[Hashable, _Call] | None:
        """The next call, and whose it is, once there is one that may begin; None once the lane is closed."""
        with self._changed:
            while not self._has_call():
                if self._is_closed:
                    return None
                self._idle += 1
                self._changed.wait()
            owner = next(filter(self._may_begin, self._lines))
            line = self._lines.pop(owner)
            call = line.popleft()
            if line:  # behind the others
                self._lines[owner] = line
            self._busy[owner] += 1
            if self._has_call():
                self._wake_one()
            return owner, call

    def _end(self, owner: Hashable, answer: Future[Any]) -> None:
        with self._changed:
            self._waiting.discard(answer)
            self._busy[owner] -= 1
            if not self._busy[owner]:
                del self._busy[owner]

    def _has_call(self) -> bool:
        return any(map(self._may_begin, self._lines))

    def _may_begin(self, owner: Hashable) -> bool:
        return self._busy[owner] < _part_of(self._size, owner)


def _part_of(number: int, owner: Hashable) -> int:
    """How much of it this owner may have at most."""
    return number if owner is _NOBODY else max(1, number // 2)


def owned_by(owner: Hashable) -> None:
    """From now on, the MongoDB calls of this task and of those that it begins are this owner's; with None,
    they are not one owner's."""
    _owner.set(owner)


@contextlib.contextmanager
def owned_by_nobody() -> Iterator[None]:
    """The MongoDB calls of this block are for several owners, whoever began the task."""
    former = _owner.set(_NOBODY)
    try:
        yield
    finally:
        _owner.reset(former)


async def in_lane(call: Callable[[], _ResultT]) -> _ResultT:
    """Run a blocking call in the lane of the task that makes it, and return its result."""
    return await asyncio.wrap_future(_lane.get().submit(partial(copy_context().run, call)))


class _ByLane(Executor):
    """The executor for Motor: it runs each call in the lane of the task that makes it."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return _lane.get().submit(lambda: call(*args, **kwargs))


def _settle(answer: Future[Any], error: BaseException | None = None, result: Any = None) -> None:
    """Set the result or error of a future, unless it is already done or cancelled."""
    with contextlib.suppress(InvalidStateError):
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(error)


# For work that no request waits for: background tasks and commands.
BACKGROUND = Lane("background", 32, 10_000)
_lane: ContextVar[Lane] = ContextVar("lane", default=BACKGROUND)
_owner: ContextVar[Hashable] = ContextVar("owner", default=_NOBODY)


def _give_lanes_to_motor() -> None:
    # Motor itself only lets us set the number of threads.
    motor_asyncio._EXECUTOR = _ByLane()  # type: ignore[assignment]


_give_lanes_to_motor()
# In a fork, Motor makes itself threads of its own again; what is registered later comes later.
os.register_at_fork(after_in_child=_give_lanes_to_motor)
