"""An idle service that does seldom what it does then, in the tests' process and in those that it forks.

It looks for entries without a place, and proves that it sees changes. That is half of the work of a service
that nobody asks anything, and tests have one at hand for most of a run.
"""

from __future__ import annotations

from collections.abc import Callable

from backend.storage.driver import pulse
from backend.storage.links import changes
from backend.storage.outbox import sequencer
from backend.storage.processes import heartbeats

# In the environment of processes that are to be idle so.
IDLE_SELDOM = "IDLE_SELDOM"


def idle_seldom(set_value: Callable[[object, str, object], object] = setattr) -> None:
    """Be idle so in this process from now on."""
    set_value(sequencer, "_IDLE_POLL_INTERVALS", ((1.0, 0.5),))
    set_value(heartbeats, "_INTERVAL", 1.0)
    set_value(pulse, "_PING_AFTER", 1.05)
    set_value(changes, "_AWAIT_MS", 1_000)
    set_value(changes, "_ANSWER_SECONDS", 2.0)
