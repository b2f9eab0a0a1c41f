"""How many examples property tests try: few in each run, and each run tries others.

`EXAMPLES_TIMES=10 pytest tests/domain` tries ten times as many.
"""

from __future__ import annotations

import os

_TIMES = int(os.environ.get("EXAMPLES_TIMES", "1"))
USUAL = 40


def examples(usual: int = USUAL) -> int:
    """So many, or the multiple of them that EXAMPLES_TIMES asks for."""
    return usual * _TIMES
