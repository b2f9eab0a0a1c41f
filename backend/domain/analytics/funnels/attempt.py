"""How far somebody got in a funnel, and when: the definition (decisions, "funnels").

storage/analytics/funnels says the same in SQL, for everybody at once; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from backend.domain.analytics.funnels.funnel import Funnel


@dataclass(frozen=True, slots=True)
class DoneFact:
    """Something that a person did: when, in milliseconds since 1970, and which steps it can be.

    Of facts at one time, those come first that can be an earlier step, and then those whose `key` sorts
    first.
    """

    at: int
    steps: AbstractSet[int]
    key: tuple[Any, ...] = ()

    @property
    def place(self) -> tuple[Any, ...]:
        """What it sorts by in a person's history."""
        return self.at, min(self.steps), self.key


def best_attempt(history: Sequence[DoneFact], funnel: Funnel, start: int, end: int) -> list[DoneFact]:
    """The facts of a person's attempt that counts, one for each step that was done, from the first step on.

    A fact of the first step begins an attempt if it is in the period from `start` to before `end`. The
    attempt with most steps counts; of several, the earliest. It is empty if nothing begins one.
    """
    ordered = sorted((fact for fact in history if fact.steps), key=lambda fact: fact.place)
    begins = [number for number, fact in enumerate(ordered) if 0 in fact.steps and start <= fact.at < end]
    going_on = _in_order if funnel.is_ordered else _in_any_order
    attempts = (list(going_on(ordered, number, funnel)) for number in begins)
    return max(attempts, key=len, default=[])


def _in_order(ordered: Sequence[DoneFact], begin: int, funnel: Funnel) -> Iterator[DoneFact]:
    """Each step as soon as it happened after the one before."""
    number, latest = begin, ordered[begin].at + funnel.within_ms
    yield ordered[begin]
    for step in range(1, len(funnel.steps)):
        later = (place for place in range(number + 1, len(ordered)) if step in ordered[place].steps)
        number = next(later, -1)
        if number < 0 or ordered[number].at > latest:
            return
        yield ordered[number]


def _in_any_order(ordered: Sequence[DoneFact], begin: int, funnel: Funnel) -> Iterator[DoneFact]:
    """Each step where it is nearest to the first one: if as near on both sides, before it."""
    first = ordered[begin]
    yield first
    for step in range(1, len(funnel.steps)):
        others = (fact for fact in ordered if step in fact.steps)
        nearest = min(others, key=lambda fact: (abs(fact.at - first.at), fact.at), default=None)
        if nearest is None or abs(nearest.at - first.at) > funnel.within_ms:
            return
        yield nearest
