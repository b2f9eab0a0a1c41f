"""The limit of open files of this process, and how many of them may be client connections."""

from __future__ import annotations

import contextlib
import resource

# Files that are kept back: connections to MongoDB, click logs, metrics, and connections that the kernel hands
# over before they are counted.
_RESERVE = 400
_WITHOUT_LIMIT = 1_000_000  # where the system sets no limit


def raise_limit() -> int:
    """Raise this process's limit of open files as far as the system allows. Returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return _WITHOUT_LIMIT if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int) -> int:
    """How many client connections to allow, given the limit of open files."""
    return max(limit - _RESERVE, limit // 2)
