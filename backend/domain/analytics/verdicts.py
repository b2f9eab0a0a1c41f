"""Says what an A/B test has shown so far, by the chance of each variant to convert best.

A chance alone invites people to stop a test at its first lucky sale. So a verdict has a stage besides: it is
decided only from a number of conversions and from a chance on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from backend.domain.analytics.chances import chances_of_best

# Conversions of all variants together. With fewer, a single sale more can turn the chances.
FEWEST_CONVERSIONS = 25
DECIDED_FROM = 0.95


@dataclass(frozen=True, slots=True)
class VariantCounts:
    """A variant with its clicks, and the conversions that came of them."""

    name: str
    clicks: int
    conversions: float

    @property
    def rate(self) -> float:
        """Conversions by clicks; 0 without clicks."""
        return self.conversions / self.clicks if self.clicks else 0.0


class VerdictStage(Enum):
    """How far a test is."""

    NO_CLICKS = auto()
    EARLY = auto()
    OPEN = auto()
    DECIDED = auto()


@dataclass(frozen=True, slots=True)
class VariantVerdict:
    """What a test has shown. `chances` are those of the variants to convert best, in their order; None for
    all without clicks. `best` has the greatest chance, and `second` the greatest of the others.
    """

    stage: VerdictStage
    chances: Sequence[float | None]
    conversions: float
    best: VariantCounts | None = None
    second: VariantCounts | None = None
    chance: float = 0.0

    @property
    def in_words(self) -> str:
        """The verdict in one or two sentences."""
        if self.best is None or self.second is None:
            return "No clicks yet."
        ahead = f"“{self.best.name}” is ahead, with a chance of {_percent(self.chance)} to convert best"
        if self.stage is VerdictStage.EARLY:
            return (
                f"Too early to tell: {self.conversions:,.0f} of at least {FEWEST_CONVERSIONS} conversions. "
                f"{ahead}."
            )
        if self.stage is VerdictStage.OPEN:
            return f"Not decided: {ahead}. It is decided from {_percent(DECIDED_FROM, 0)} on."
        rates = [_percent(variant.rate, 2) for variant in (self.best, self.second)]
        return (
            f"Decided: “{self.best.name}” converts best, with a chance of {_percent(self.chance)}. "
            f"{rates[0]} of its clicks convert, and {rates[1]} of those of “{self.second.name}”."
        )


def verdict_of(variants: Sequence[VariantCounts]) -> VariantVerdict:
    """The verdict about these variants, of which there are at least two. Their order does not matter."""
    chances = chances_of_best([(variant.clicks, variant.conversions) for variant in variants])
    conversions = sum(variant.conversions for variant in variants)
    rated = [
        (chance, variant) for chance, variant in zip(chances, variants, strict=True) if chance is not None
    ]
    if len(rated) < 2:
        return VariantVerdict(VerdictStage.NO_CLICKS, chances, conversions)
    (chance, best), (_, second), *_ = sorted(rated, key=lambda pair: (-pair[0], pair[1].name))
    stage = VerdictStage.DECIDED if chance >= DECIDED_FROM else VerdictStage.OPEN
    if conversions < FEWEST_CONVERSIONS:
        stage = VerdictStage.EARLY
    return VariantVerdict(stage, chances, conversions, best, second, chance)


def _percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"
