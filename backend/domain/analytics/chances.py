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
# Where a density is looked at: within so many standard deviations of its mean, so many times in each.
_SIGMAS, _STEPS = 8, 8
# All looks together, for all variants that are compared; but at least so many at each of them.
_MOST_LOOKS, _FEWEST_LOOKS = 1_000_000, 300


def chances_of_best(counts: Sequence[tuple[int, float]]) -> list[float | None]:
    """Each variant's chance, from its clicks and conversions.

    None for all where there is nothing to compare: one variant only, or no click.
    """
    if len(counts) < 2 or not any(clicks for clicks, _ in counts):
        return [None] * len(counts)
    rates = [_Rate.of(*each) for each in counts]
    places = _places(rates)
    below = [1.0] * len(places)  # the chance that all rates are lower
    for rate in rates:
        below = [
            all_others * own for all_others, own in zip(below, rate.distribution(places)[1], strict=True)
        ]
    won = [_won(rate, places, below) for rate in rates]
    total = sum(won)
    return [round(each / total, _DIGITS) for each in won]


@dataclass(frozen=True, slots=True)
class _Rate:
    """What is known of a rate: the Beta distribution with these parameters."""

    hits: float
    misses: float

    @classmethod
    def of(cls, clicks: int, conversions: float) -> _Rate:
        """The rate of so many clicks. Somebody may buy twice after one click: that is no more than all."""
        hits = min(float(conversions), clicks)
        return cls(1 + hits, 1 + clicks - hits)

    def places(self) -> Iterator[float]:
        """Rates at which the distribution is looked at, close to each other where it is dense."""
        total = self.hits + self.misses
        mean = self.hits / total
        deviation = sqrt(self.hits * self.misses / (total + 1)) / total
        for step in range(-_SIGMAS * _STEPS, _SIGMAS * _STEPS + 1):
            if 0 < (place := mean + deviation * step / _STEPS) < 1:
                yield place

    def distribution(self, places: Sequence[float]) -> tuple[list[float], list[float]]:
        """The density at these places, and the chance of a rate up to each of them."""
        scale = lgamma(self.hits + self.misses) - lgamma(self.hits) - lgamma(self.misses)
        more_hits, more_misses = self.hits - 1, self.misses - 1
        density = [exp(scale + more_hits * log(each) + more_misses * log1p(-each)) for each in places]
        chances, chance = [0.0], 0.0
        for (at, then), (one, other) in zip(pairwise(places), pairwise(density), strict=True):
            chance += (then - at) * (one + other) / 2
            chances.append(chance)
        return density, [each / (chance or 1) for each in chances]


def _places(rates: Sequence[_Rate]) -> list[float]:
    """Where all the distributions are looked at."""
    tiny = 1e-12
    found = sorted({tiny, 1 - tiny, *(place for rate in rates for place in rate.places())})
    most = max(_FEWEST_LOOKS, _MOST_LOOKS // len(rates))
    every = -(-len(found) // most)
    return [*found[:-1:every], found[-1]]


def _won(rate: _Rate, places: Sequence[float], below: Sequence[float]) -> float:
    """The chance that the rate is higher than all others."""
    density, own = rate.distribution(places)
    parts = [
        each * (all_lower / lower if lower else 0.0)
        for each, all_lower, lower in zip(density, below, own, strict=True)
    ]
    steps = zip(pairwise(places), pairwise(parts), strict=True)
    return sum((then - at) * (one + other) / 2 for (at, then), (one, other) in steps)
