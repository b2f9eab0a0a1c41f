"""How far somebody got in a funnel, and when."""

from __future__ import annotations

import pytest

from backend.domain.analytics.funnels.attempt import DoneFact, best_attempt
from backend.domain.analytics.funnels.funnel import DAY_MS, Funnel, FunnelStep, FunnelStepKind

STEPS = tuple(FunnelStep(kind) for kind in FunnelStepKind)


def times(history: str, *, within: int = 3, is_ordered: bool = True, begins: int = 0) -> list[int]:
    """The days of the attempt that counts. A history is a text such as `0@1 1@4`: step 0 on day 1, 1 on 4."""
    facts = []
    for number, text in enumerate(history.split()):
        steps, _, day = text.partition("@")
        facts.append(DoneFact(int(day) * DAY_MS, frozenset(map(int, steps)), (number,)))
    funnel = Funnel(steps=STEPS, within_days=within, is_ordered=is_ordered)
    attempt = best_attempt(facts, funnel, begins * DAY_MS, 100 * DAY_MS)
    return [fact.at // DAY_MS for fact in attempt]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ("1@1 2@2", []),  # nothing begins
        ("0@1", [1]),
        ("0@1 1@2 2@3 3@4", [1, 2, 3, 4]),
        ("1@1 0@2 2@3", [2]),  # the steps before do not count, and one is left out
        ("0@1 2@2 1@3", [1, 3]),
        ("0@1 1@5", [1]),  # too late
        ("0@1 1@4", [1, 4]),  # as late as may be
        ("0@1 0@2 1@4 2@5", [2, 4, 5]),  # the second beginning gets further
        ("0@1 0@2 1@3", [1, 3]),  # both get as far: the first one
        ("0@1 1@2 1@3 2@4", [1, 2, 4]),  # as soon as it happens
        ("01@1 01@2", [1, 2]),  # one fact is one step
        ("1@2 0@2", [2, 2]),  # at one time, in the order of the steps
        ("02@1 1@1 02@3", [1, 1, 3]),
    ],
)
def test_in_order(history: str, expected: list[int]) -> None:
    """Each step follows the one before, at most three days after the first."""
    assert times(history) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ("1@1 0@2 2@3", [2, 1, 3]),
        ("1@1 0@4 1@7", [4, 1]),  # as near on both sides: before
        ("1@1 0@4 1@6", [4, 6]),
        ("1@1 0@5", [5]),  # too early
        ("0@1 2@2", [1]),  # step 1 is left out
        ("012@1", [1, 1, 1]),  # one fact may be several steps
    ],
)
def test_in_any_order(history: str, expected: list[int]) -> None:
    """Steps may be three days before the first one too, and count where they are nearest to it."""
    assert times(history, is_ordered=False) == expected


def test_an_attempt_begins_in_the_period() -> None:
    """What follows may be behind its end, and what precedes before its beginning."""
    assert times("0@1 1@3", begins=2) == []
    assert times("0@99 1@101") == [99, 101]
    assert times("1@1 0@3", begins=2, is_ordered=False) == [3, 1]
