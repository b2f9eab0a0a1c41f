"""How many files and connections this process may have open, and how many of them may be connections."""

from __future__ import annotations

import contextlib
import resource

# Files that are kept back: connections to MongoDB, click logs, metrics, and connections that the kernel hands
# over before they are counted.
_RESERVE = 400
_PLENTY = 1_000_000  # where the system sets no limit


def raise_limit() -> int:
    """Let this process have as many files open as the system allows it; how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return _PLENTY if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int) -> int:
    """How many of so many files may be connections of clients."""
    return max(limit - _RESERVE, limit // 2)
