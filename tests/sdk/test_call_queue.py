"""Calls wait until init has resolved and there is consent."""

from __future__ import annotations

import types
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

ACTIONS = st.lists(st.sampled_from(["call", "open", "refuse", "wait"]), max_size=30)
STATES = {"open": True, "refuse": False, "wait": None}
MOST = 100


def queue(*, has_consent: bool = False) -> tuple[types.SimpleNamespace, list[str]]:
    """The module of calls, and what happens to each call: it is sent, or finished unsent."""
    happened: list[str] = []

    def drop_excess(entries: Any, *_: Any) -> None:
        if len(entries) > MOST:
            finish_entry(entries.pop(0))

    def finish_entry(entry: Any) -> None:
        happened.append(f"drop {entry['call']['number']}")

    module = load(
        "calls",
        drop_excess=drop_excess,
        finish_entry=finish_entry,
        has_consent=lambda: has_consent,
        drop_entry=finish_entry,
        IS_BROWSER=True,
    )
    module.queue_call.__globals__["submit"] = lambda entry: happened.append(f"run {entry['call']['number']}")
    return module, happened


def expected_of(actions: list[str]) -> list[str]:
    """What must happen: calls run in order once they may, or are dropped by a refusal and after it."""
    happened: list[str] = []
    waiting: list[int] = []
    state: bool | None = None
    for number, action in enumerate(actions):
        if action == "call":
            waiting.append(number)
        else:
            state = STATES[action]
        if state is not None:
            happened += [f"{'run' if state else 'drop'} {call}" for call in waiting]
            waiting = []
    return happened


@given(ACTIONS)
def test_calls_run_once_in_order_or_are_dropped(actions: list[str]) -> None:
    """In any sequence of calls and changes of consent, each call runs once, is dropped once, or waits."""
    module, happened = queue()
    for number, action in enumerate(actions):
        if action == "call":
            module.queue_call(js({"number": number}), None, None)
        else:
            module.allow_sending(STATES[action])
    assert happened == expected_of(actions)


def test_the_oldest_of_too_many_goes() -> None:
    """Of 150 calls that wait, the first 50 are dropped, and the others run in order."""
    module, happened = queue()
    for number in range(150):
        module.queue_call(js({"number": number}), None, None)
    assert happened == [f"drop {number}" for number in range(50)]
    module.allow_sending(True)
    assert happened[50:] == [f"run {number}" for number in range(50, 150)]


def test_what_is_about_to_be_sent_has_no_bound() -> None:
    """Of 150 calls that a visitor with consent makes before `init` has resolved, all run."""
    module, happened = queue(has_consent=True)
    for number in range(150):
        module.queue_call(js({"number": number}), None, None)
    module.allow_sending(True)
    assert happened == [f"run {number}" for number in range(150)]
