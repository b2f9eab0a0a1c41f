"""The chance of a variant to convert better than the others."""

from __future__ import annotations

import random
import tracemalloc
from itertools import product

import pytest

from backend.domain.analytics.chances import chances_of_best


def test_the_chance_of_the_better_one() -> None:
    """Near certainty for a clear difference, a half for none, and nothing where there is nothing to compare.
    100 of 1,000 against 130 of 1,000 is 98 % by the usual calculators."""
    assert chances_of_best([(1_000, 50), (1_000, 150)]) == [0.0, 1.0]
    assert chances_of_best([(500, 25), (500, 25)]) == [0.5, 0.5]
    assert chances_of_best([(1_000, 100), (1_000, 130)]) == [0.018, 0.982]
    assert chances_of_best([(10, 1)]) == [None]
    assert chances_of_best([(0, 0), (0, 0)]) == [None, None]
    # Who buys twice after one click is no more than every click.
    assert chances_of_best([(10, 20), (900, 100), (0, 0)]) == [0.917, 0.0, 0.083]


@pytest.mark.parametrize(
    "counts",
    [
        *([one, other] for one, other in product([(1, 1), (20, 3), (5_000, 0)], [(3, 0), (40, 6.5)])),
        [(0, 0), (1_000_000, 500_000)],
        [(1_000_000, 10), (20, 0), (3, 0)],
        [(100, 7), (90, 9), (300, 21), (5, 1)],
    ],
)
def test_chances_are_those_of_drawn_rates(counts: list[tuple[int, float]]) -> None:
    """Of few clicks and of many, alike or not: drawn many times, each rate is the highest so often."""
    drawing, draws = random.Random(7), 6_000
    won = [0] * len(counts)
    for _ in range(draws):
        rates = [drawing.betavariate(1 + hits, 1 + clicks - hits) for clicks, hits in counts]
        won[rates.index(max(rates))] += 1
    for chance, times in zip(chances_of_best(counts), won, strict=True):
        assert chance is not None
        assert abs(chance - times / draws) < 0.025


def test_many_variants_take_little_memory() -> None:
    """What is known of each is not kept."""
    tracemalloc.start()
    try:
        chances = chances_of_best([(100, number % 7) for number in range(40)])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert abs(sum(chance or 0 for chance in chances) - 1) < 0.1  # each is rounded
    assert peak < 1_000_000  # 3,000,000 if it were
