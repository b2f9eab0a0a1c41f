"""What a process has imported."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection


def tell_modules(told: Connection) -> None:
    """Send the names of all modules of this process."""
    told.send([*sys.modules])
