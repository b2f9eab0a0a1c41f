"""How often Python looks for garbage: objects that only refer to one another."""

from __future__ import annotations

import gc

# So many new objects may there be before Python looks for garbage. By default it looks every few requests, at
# those in progress mostly, which takes a twentieth of their processor time.
_GARBAGE = 10_000, 10, 10


def look_for_garbage_seldom() -> None:
    """Never among what is there now, and among new objects when there are many."""
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
