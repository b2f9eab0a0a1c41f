"""How Python works in a process of the service: when it looks for garbage, and how long a thread keeps it."""

from __future__ import annotations

import gc
import sys

# So many new objects may there be before Python looks for garbage, which are objects that only refer to one
# another. By default it looks every few requests, at those in progress mostly, which takes a twentieth of
# their processor time.
_GARBAGE = 10_000, 10, 10
# Seconds. What waits for MongoDB does so in threads of its own, and each answer's thread waits for its turn:
# by default the event loop keeps it for five milliseconds. Transactions shorten it further (QUICK_SWITCHES).
_LONGEST_TURN = 0.001


def set_up_interpreter() -> None:
    """Look for garbage seldom, and never among what is there now; let threads take turns often."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    sys.setswitchinterval(_LONGEST_TURN)
