"""An idle service that does seldom what it does then, in the tests' process and in those that it forks.

It looks for entries without a place and for webhooks that no process has, and proves that it sees changes.
Tests have such a service at hand for most of a run.
"""

from __future__ import annotations

from collections.abc import Callable

from backend.storage.driver import pulse
from backend.storage.links import changes
from backend.storage.outbox import sequencer
from backend.storage.processes import heartbeats
from backend.webhooks import delivery

# In the environment of processes that are to be idle so.
IDLE_SELDOM = "IDLE_SELDOM"


_SELDOM: dict[tuple[object, str], object] = {
    (sequencer, "_IDLE_POLL_INTERVALS"): ((10.0, 1.0), (1.0, 0.5)),
    (delivery, "STEP_SECONDS"): 2.0,
    (heartbeats, "_INTERVAL"): 3.0,
    (pulse, "_PING_AFTER"): 3.05,
    (changes, "_AWAIT_MS"): 3_000,
    (changes, "_ANSWER_SECONDS"): 5.0,
}
_AS_INSTALLED = {(module, name): getattr(module, name) for module, name in _SELDOM}
SetValue = Callable[[object, str, object], object]


def idle_seldom(set_value: SetValue = setattr) -> None:
    """Be idle so in this process from now on."""
    for (module, name), value in _SELDOM.items():
        set_value(module, name, value)


def idle_as_installed(set_value: SetValue) -> None:
    """Have the times of an installation in this process again."""
    for (module, name), value in _AS_INSTALLED.items():
        set_value(module, name, value)
