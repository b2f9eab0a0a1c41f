"""Lanes: separate thread pools (bulkheads) for calls of MongoDB, so that no kind of work blocks another.

Motor runs every call in one pool of a few threads. If the server hangs, all these threads are blocked, and
visitors wait behind any other work. Here each kind of work has its own threads, and while MongoDB is known to
hang, calls fail at once. The threads are daemons, so a process can end while they wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextvars import ContextVar, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

import motor.frameworks.asyncio as motor_asyncio
from pymongo.errors import AutoReconnect

_Call = tuple["Future[Any]", Callable[[], Any]]
_ResultT = TypeVar("_ResultT")


class StorageAway(AutoReconnect):
    """MongoDB does not answer now. The operation may or may not have been carried out."""

    def __init__(self) -> None:
        super().__init__("MongoDB does not answer")


class Lane:
    """At most `size` threads for the MongoDB calls that are made inside `with lane.used()`.

    At most `most_waiting` calls wait for a thread: more could not be answered in time.
    """

    def __init__(self, name: str, size: int, most_waiting: int) -> None:
        self._name = name
        self._size = size
        self._most_waiting = most_waiting
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0
        self._waiting: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._is_away = False

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """All MongoDB calls of this block, and of tasks started in it, use this lane."""
        token = _lane.set(self)
        try:
            yield
        finally:
            _lane.reset(token)

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Run the call in a thread of this lane; the future has its result.

        The future fails with StorageAway if MongoDB is away or too many calls wait.
        """
        answer: Future[Any] = Future()
        with self._lock:
            is_refused = self._is_away or len(self._waiting) >= self._most_waiting
            if not is_refused:
                self._waiting.add(answer)
        if is_refused:
            _settle(answer, StorageAway())
            return answer
        self._calls.put((answer, call))
        if not self._idle.acquire(blocking=False) and self._threads < self._size:
            self._threads += 1
            threading.Thread(target=self._work, name=f"mongodb-{self._name}", daemon=True).start()
        return answer

    def away(self) -> None:
        """Note that MongoDB does not answer: waiting and new calls fail at once with StorageAway."""
        with self._lock:
            self._is_away = True
            waiting, self._waiting = self._waiting, set()
        for answer in waiting:
            _settle(answer, StorageAway())

    def back(self) -> None:
        """Note that MongoDB answers again."""
        self._is_away = False

    def close(self) -> None:
        """End each thread as soon as its current call returns."""
        for _ in range(self._threads):
            self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            answer, call = item
            del item
            if not answer.done():  # otherwise the caller has given up
                try:
                    _settle(answer, result=call())
                except BaseException as error:
                    _settle(answer, error)
            with self._lock:
                self._waiting.discard(answer)
            del answer, call
            self._idle.release()


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


def _give_lanes_to_motor() -> None:
    # Motor itself only lets us set the number of threads.
    motor_asyncio._EXECUTOR = _ByLane()  # type: ignore[assignment]


_give_lanes_to_motor()
# In a fork, Motor makes itself threads of its own again; what is registered later comes later.
os.register_at_fork(after_in_child=_give_lanes_to_motor)
