"""The chance that a variant converts better than the others that it stood beside.

Of each variant, the conversion rate is what its clicks and conversions leave open: a Beta distribution, with
every rate alike before the first click. Drawn many times, the chance is how often a variant's rate is the
highest (decisions, "link-rules").
"""

from __future__ import annotations

from collections import defaultdict

from backend.domain.analytics_answer import Counted, Figures
from backend.domain.analytics_query import Field, Query

_MOST_DRAWS = 50_000  # for each variant: the chance is right to half a percent
_FEWEST_DRAWS = 2_000
_ALL_DRAWS = 2_000_000
_SEED = 4_711  # so that the same counts always give the same chance
_DIGITS = 3


def add_chances(query: Query, counted: Counted) -> None:
    """Set each row's chance to be the best variant of those rows that differ from it in nothing else.

    It stays None where a row has no other to be compared with, or nobody has clicked.
    """
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
    rates = [
        drawing.beta(1 + of_each, 1 + each.clicks - of_each, draws)
        for each, of_each in zip(variants, hits, strict=True)
    ]
    wins = numpy.bincount(numpy.argmax(rates, axis=0), minlength=len(variants))
    for each, won in zip(variants, wins, strict=True):
        each.chance_of_best = round(float(won) / draws, _DIGITS)
