"""What became of many requests: how long each took, and what those were told that got no answer."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field

# What changes from one time to the next in a sentence: numbers, ids and paths.
_CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d,.]*")
_PASSES = re.compile(r"ask again", re.IGNORECASE)


@dataclass(slots=True)
class ToldAnswers:
    """Answers by what was asked, and the reasons of those who got none."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    refused: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reasons: Counter[str] = field(default_factory=Counter)
    late: int = 0

    def note(self, kind: str, seconds: float, reason: str | None, *, is_late: bool) -> None:
        """Note an answer of this kind, or why there was none, and whether that came after its deadline."""
        self.late += is_late
        (self.seconds if reason is None else self.refused)[kind].append(seconds)
        if reason is not None:
            self.reasons[_CHANGING.sub("N", reason)] += 1

    @property
    def count(self) -> int:
        """How many were asked."""
        return sum(len(times) for told in (self.seconds, self.refused) for times in told.values())

    def print(self) -> None:
        """Print a table of them, the reasons, and what should not be among them."""
        print(f"  {'':<48} {'answers':>8} {'50 %':>8} {'99 %':>8} {'longest':>8} {'503':>6} {'longest':>8}")
        for kind in sorted({*self.seconds, *self.refused}):
            self._print_kind(kind)
        print(f"  later than the deadline: {self.late} (target: 0)")
        for reason, times in self.reasons.most_common():
            print(f"  {times:6} times 503: {reason}")
        lasting = sum(times for why, times in self.reasons.items() if not _PASSES.search(why))
        print(f"  503 that does not say that it passes: {lasting} (target: 0)")

    def _print_kind(self, kind: str) -> None:
        of_kind, refused = self.seconds[kind], self.refused[kind]
        shares = statistics.quantiles(of_kind, n=100, method="inclusive") if len(of_kind) > 1 else [0.0] * 99
        times = " ".join(_ms(seconds) for seconds in (shares[49], shares[98], max(of_kind, default=0.0)))
        print(f"  {kind:<48} {len(of_kind):8,} {times} {len(refused):6} {_ms(max(refused, default=0.0))}")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:5,.0f} ms"
