"""How much several measurements of the same ratio differ."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def spread(ratios: Sequence[float]) -> str:
    """The median of the ratios (two or more), and the range of their middle half, as text."""
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f}, half of them from {low:.2f} to {high:.2f}"
