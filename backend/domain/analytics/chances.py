"""The chance that a variant converts better than the others that it stood beside.

Of each variant, the conversion rate is what its clicks and conversions leave open: a Beta distribution, with
every rate alike before the first click. The chance is that of the variant's rate to be the highest of all
(decisions, "link-rules"): the integral of its density times the distributions of all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, lgamma, log, log1p, sqrt

_DIGITS = 3
# A density is evaluated within so many standard deviations of its mean, at so many places in each.
_SIGMAS, _STEPS_PER_SIGMA = 8, 8
# The most evaluations for all variants together, but at least so many for each of them.
_MOST_EVALUATIONS, _FEWEST_EVALUATIONS = 1_000_000, 300


def chances_of_best(counts: Sequence[tuple[int, float]]) -> list[float | None]:
    """Each variant's chance, from its clicks and conversions.

    None for all where there is nothing to compare: one variant only, or no click.
    """
    if len(counts) < 2 or not any(clicks for clicks, _ in counts):
        return [None] * len(counts)
    rates = [_Rate.of(clicks, conversions) for clicks, conversions in counts]
    places = _places(rates)
    below = [1.0] * len(places)  # the chance that all rates are lower
    for rate in rates:
        below = [
            all_others * chance
            for all_others, chance in zip(below, rate.distribution(places)[1], strict=True)
        ]
    chances = [_chance_of_highest(rate, places, below) for rate in rates]
    total = sum(chances)
    return [round(chance / total, _DIGITS) for chance in chances]


@dataclass(frozen=True, slots=True)
class _Rate:
    """The Beta distribution of a rate, with these parameters."""

    hits: float
    misses: float

    @classmethod
    def of(cls, clicks: int, conversions: float) -> _Rate:
        """The rate of so many clicks. Conversions beyond the clicks, as by buying twice, are left out."""
        hits = min(float(conversions), clicks)
        return cls(1 + hits, 1 + clicks - hits)

    def places(self) -> Iterator[float]:
        """The rates at which the distribution is evaluated, close to each other where it is dense."""
        total = self.hits + self.misses
        mean = self.hits / total
        deviation = sqrt(self.hits * self.misses / (total + 1)) / total
        for step in range(-_SIGMAS * _STEPS_PER_SIGMA, _SIGMAS * _STEPS_PER_SIGMA + 1):
            if 0 < (place := mean + deviation * step / _STEPS_PER_SIGMA) < 1:
                yield place

    def distribution(self, places: Sequence[float]) -> tuple[list[float], list[float]]:
        """The density at these places, and the chance of a rate up to each of them."""
        scale = lgamma(self.hits + self.misses) - lgamma(self.hits) - lgamma(self.misses)
        more_hits, more_misses = self.hits - 1, self.misses - 1
        density = [exp(scale + more_hits * log(place) + more_misses * log1p(-place)) for place in places]
        chances, chance = [0.0], 0.0
        for (at, then), (one, other) in zip(pairwise(places), pairwise(density), strict=True):
            chance += (then - at) * (one + other) / 2
            chances.append(chance)
        return density, [below / (chance or 1) for below in chances]


def _places(rates: Sequence[_Rate]) -> list[float]:
    """The rates at which all the distributions are evaluated, in order."""
    tiny = 1e-12
    places = sorted({tiny, 1 - tiny, *(place for rate in rates for place in rate.places())})
    most = max(_FEWEST_EVALUATIONS, _MOST_EVALUATIONS // len(rates))
    every = -(-len(places) // most)
    return [*places[:-1:every], places[-1]]


def _chance_of_highest(rate: _Rate, places: Sequence[float], below: Sequence[float]) -> float:
    """The chance that the rate is higher than all others."""
    density, chances = rate.distribution(places)
    parts = [
        dense * (all_lower / lower if lower else 0.0)
        for dense, all_lower, lower in zip(density, below, chances, strict=True)
    ]
    steps = zip(pairwise(places), pairwise(parts), strict=True)
    return sum((then - at) * (one + other) / 2 for (at, then), (one, other) in steps)
