"""What an A/B test is said to have shown."""

from __future__ import annotations

import random

import pytest

from backend.domain.analytics.verdicts import FEWEST_CONVERSIONS, VariantCounts, VerdictStage, verdict_of


@pytest.mark.parametrize(
    ("counts", "stage", "sentence"),
    [
        ([(0, 0), (0, 0)], VerdictStage.NO_CLICKS, "No clicks yet."),
        (
            [(50, 0), (40, 4)],
            VerdictStage.EARLY,
            "Too early to tell: 4 of at least 25 conversions. “B” is ahead",
        ),
        ([(500, 20), (500, 25)], VerdictStage.OPEN, "Not decided: “B” is ahead, with a chance of"),
        (
            [(1000, 20), (1000, 60)],
            VerdictStage.DECIDED,
            "Decided: “B” converts best, with a chance of 100.0 %. 6.00 % of its clicks convert, and "
            "2.00 % of those of “A”.",
        ),
    ],
)
def test_stages(counts: list[tuple[int, float]], stage: VerdictStage, sentence: str) -> None:
    """From no click to a decision; the sentence names who is ahead, and by what."""
    verdict = verdict_of([VariantCounts(name, *count) for name, count in zip("AB", counts, strict=True)])
    assert verdict.stage is stage
    assert verdict.in_words.startswith(sentence)


def test_alike_variants_are_rarely_decided_too_early() -> None:
    """Looked at after every hundredth click, most tests of equal variants stay open at their beginning."""
    chance = random.Random(7)
    decided = 0
    for _ in range(60):
        clicks, conversions = [0, 0], [0, 0]
        while sum(conversions) < FEWEST_CONVERSIONS:
            for variant in (0, 1):
                clicks[variant] += 50
                conversions[variant] += sum(chance.random() < 0.04 for _ in range(50))
        counts = [VariantCounts(name, *pair) for name, *pair in zip("AB", clicks, conversions, strict=True)]
        decided += verdict_of(counts).stage is VerdictStage.DECIDED
    assert decided <= 10  # at a chance of 95 % to either side, one in ten is expected


def test_the_order_does_not_matter() -> None:
    """The same variants in another order have the same verdict."""
    variants = [VariantCounts("A", 300, 10), VariantCounts("B", 310, 19), VariantCounts("C", 290, 12)]
    assert verdict_of(variants).in_words == verdict_of(variants[::-1]).in_words
