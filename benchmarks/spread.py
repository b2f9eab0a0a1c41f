"""How far ratios that were measured several times lie from each other."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def spread(ratios: Sequence[float]) -> str:
    """The median of two or more, and between what the middle half of them lies."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f}, half of them from {low:.2f} to {high:.2f}"
