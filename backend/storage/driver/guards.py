"""What has to hold, or is noted, in the transaction that a task begins next: so that both are one step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

# Gets the session of the transaction, before its work is begun. It is called again where the transaction is
# tried again. What it raises ends the transaction, and reaches who began it.
Guard: TypeAlias = Callable[[Any], Awaitable[None]]


@dataclass(slots=True)
class Guarded:
    """The next transaction of a task, and of those that it begins, has this guard, until one `is_done`."""

    guard: Guard | None
    is_done: bool = False

    async def check(self, session: Any) -> None:
        """Call the guard, if it still waits for its transaction, within this one."""
        if self.guard:
            await self.guard(session)

    def finish(self) -> None:
        """The transaction is stored, and with it what the guard has noted."""
        self.is_done = self.guard is not None or self.is_done
        self.guard = None

    def end(self) -> None:
        """From now on, no transaction has the guard."""
        self.guard = None


_NONE = Guarded(None)
_guarded: ContextVar[Guarded] = ContextVar("guarded", default=_NONE)


def guard_next_transaction(guard: Guard) -> Guarded:
    """Have the guard called within the next transaction of this task. Returns what ends that again."""
    guarded = Guarded(guard)
    _guarded.set(guarded)
    return guarded


@contextmanager
def unguarded() -> Iterator[None]:
    """A block whose transactions have no guard: what they store stays, whatever comes next."""
    token = _guarded.set(_NONE)
    try:
        yield
    finally:
        _guarded.reset(token)


def guarded() -> Guarded:
    """What guards the current task's next transaction."""
    return _guarded.get()
