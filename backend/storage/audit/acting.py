"""Who acts at the moment: each interface says it once, and what is stored meanwhile is theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from backend.domain.accounts.actors import SERVICE, Actor


@dataclass(frozen=True, slots=True)
class Acting:
    """Who acts, and by which route of an interface, if by any."""

    actor: Actor = SERVICE
    route: str | None = None


# As long as an interface has not said who it is.
NOBODY = Acting()
_acting: ContextVar[Acting] = ContextVar("acting", default=NOBODY)


def acting() -> Acting:
    """Who acts at the moment. Nobody said so in the background: there it is the service."""
    return _acting.get()


def act_as(actor: Actor, route: str | None = None) -> None:
    """From now on, this task and those that it begins act for this actor."""
    _acting.set(Acting(actor, route))


@contextmanager
def acting_as(who: Acting) -> Iterator[None]:
    """The block acts for them, and what comes behind it for those before."""
    former = _acting.set(who)
    try:
        yield
    finally:
        _acting.reset(former)
