"""Settings of the Python interpreter: garbage collection, and how often threads take turns."""

from __future__ import annotations

import gc
import sys

# Python collects cyclic garbage after this many new objects. By default it does so every few requests, and
# mostly visits objects of requests in progress, which takes a twentieth of the processor time.
_GC_THRESHOLDS = 10_000, 10, 10
# Seconds. Threads wait for MongoDB, and a thread with an answer must wait until the event loop's thread gives
# up its turn: by default five milliseconds. Transactions shorten it further (QUICK_SWITCHES).
_SWITCH_INTERVAL = 0.001


def set_up_interpreter() -> None:
    """Collect garbage seldom, never among the objects that exist now, and let threads take turns often."""
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    sys.setswitchinterval(_SWITCH_INTERVAL)
