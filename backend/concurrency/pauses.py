"""How long to wait before something that failed is tried again."""

from __future__ import annotations

import random

_LONGEST = 2.0


def pause_after(failures: int) -> float:
    """Seconds to wait after so many failures in a row.

    Random in part, so that processes don't retry all at once.
    """
    # The exponent is limited: after a thousand failures the power would be too large for a float.
    longest = min(_LONGEST, 0.1 * 2.0 ** min(failures, 10))
    return longest * random.uniform(0.5, 1)  # noqa: S311 - jitter
