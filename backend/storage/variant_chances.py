"""The chance that a variant converts better than the others that it stood beside.

Of each variant, the conversion rate is what its clicks and conversions leave open: a Beta distribution, with
every rate alike before the first click. Drawn many times, the chance is how often a variant's rate is the
highest (decisions, "link-rules").
"""

from __future__ import annotations

from collections import defaultdict

from backend.domain.analytics_answer import Counted, Figures
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.errors import InvalidField

_MOST_DRAWS = 50_000  # for each variant: the chance is right to half a percent
_FEWEST_DRAWS = 2_000
_ALL_DRAWS = 2_000_000
_MOST_ROWS = 10_000  # which takes seconds already
_SEED = 4_711  # so that the same counts always give the same chance
_DIGITS = 3


def add_chances(query: Query, counted: Counted) -> None:
    """Set each row's chance to be the best variant of those rows that differ from it in nothing else.

    It stays None where a row has no other to be compared with, or nobody has clicked. Raises InvalidField
    where these are too many rows.
    """
    if len(counted.rows) > _MOST_ROWS:
        rule = f"has {Measure.CHANCE_OF_BEST}, which is for at most {_MOST_ROWS:,} rows; filters give fewer"
        raise InvalidField("measures", rule)
    place = query.group_by.index(Field.VARIANT)
    tests: defaultdict[tuple[str | None, ...], list[Figures]] = defaultdict(list)
    for group, figures in counted.rows.items():
        tests[group[:place] + group[place + 1 :]].append(figures)
    draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _ALL_DRAWS // max(1, len(counted.rows))))
    for variants in tests.values():
        if len(variants) > 1 and any(each.clicks for each in variants):
            _compare(variants, draws)


def _compare(variants: list[Figures], draws: int) -> None:
    import numpy  # noqa: PLC0415 - it takes a tenth of a second to load, and few processes need it

    drawing = numpy.random.default_rng(_SEED)
    # Somebody may buy twice after one click: that is not more than every click.
    hits = [min(float(each.conversions), each.clicks) for each in variants]
    # Only the best rate of each draw is kept: a thousand variants would fill the memory.
    best, best_one = numpy.full(draws, -1.0), numpy.zeros(draws, dtype=numpy.intp)
    for number, (each, of_each) in enumerate(zip(variants, hits, strict=True)):
        rates = drawing.beta(1 + of_each, 1 + each.clicks - of_each, draws)
        is_better = rates > best
        best[is_better], best_one[is_better] = rates[is_better], number
    wins = numpy.bincount(best_one, minlength=len(variants))
    for each, won in zip(variants, wins, strict=True):
        each.chance_of_best = round(float(won) / draws, _DIGITS)
