"""A thread in which owners take turns, so that one with much to do keeps no other waiting."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")
_Waiting = tuple[Callable[[], Any], Future[Any]]


class TooManyWait(Exception):
    """So much of one owner's work is under way or waits that more of it is refused."""


class FairThread:
    """Does pieces of work in one thread, one piece of each owner after the other.

    An owner is whoever could keep others waiting, such as an organization. Work that takes long is divided
    into pieces by whoever asks for it: then others wait for a piece at most.
    """

    def __init__(self, name: str, most_admitted: int) -> None:
        """`most_admitted` is how many blocks of `admitted` an owner may have at a time."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._most_admitted = most_admitted
        self._admitted: Counter[Hashable] = Counter()
        self._lock = Lock()
        # The owners who wait, in the order of their turns.
        self._lines: dict[Hashable, deque[_Waiting]] = {}

    @contextmanager
    def admitted(self, owner: Hashable) -> Iterator[None]:
        """A block that asks for work of this owner. Raises TooManyWait if the owner has too many blocks.

        Work that can be refused asks for this once, before its first piece.
        """
        if self._admitted[owner] >= self._most_admitted:
            raise TooManyWait
        self._admitted[owner] += 1
        try:
            yield
        finally:
            self._admitted[owner] -= 1
            self._admitted += Counter()  # which forgets owners who have none left

    async def run(self, owner: Hashable, piece: Callable[[], ResultT]) -> ResultT:
        """Run `piece` at the owner's turn and return its result. Pieces of an owner come in order."""
        done: Future[ResultT] = Future()
        with self._lock:
            self._lines.setdefault(owner, deque()).append((piece, done))
        self._thread.submit(self._run_next)
        return await asyncio.wrap_future(done)

    def _run_next(self) -> None:
        piece, done = self._take_next()
        if not done.set_running_or_notify_cancel():  # nobody waits for it any more
            return
        try:
            done.set_result(piece())
        except BaseException as error:
            done.set_exception(error)

    def _take_next(self) -> _Waiting:
        """The first piece of the owner whose turn it is, who then waits behind all others."""
        with self._lock:
            owner = next(iter(self._lines))
            line = self._lines.pop(owner)
            waiting = line.popleft()
            if line:
                self._lines[owner] = line
        return waiting
