"""The queue that holds calls until init has resolved and there is consent."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import load

ACTIONS = st.lists(st.sampled_from(["call", "open", "close", "refuse", "allow"]), max_size=30)


def expected_of(actions: list[str]) -> list[str]:
    """What must happen: calls run in order once the queue is open, or are dropped by closing or refusal."""
    happened: list[str] = []
    waiting: list[int] = []
    is_open = is_refused = False
    for number, action in enumerate(actions):
        if action == "call" and (is_open or is_refused):
            happened.append(f"{'run' if is_open else 'drop'} {number}")
        elif action == "call":
            waiting.append(number)
        elif action in {"refuse", "allow"}:
            is_refused = action == "refuse"
        else:
            is_open = action == "open"
            happened += [f"{'run' if is_open else 'drop'} {each}" for each in waiting]
            waiting = []
    return happened


@given(ACTIONS)
def test_calls_run_once_in_order_or_are_dropped(actions: list[str]) -> None:
    """In any sequence of calls and changes of the queue, each call runs once, is dropped once, or waits."""
    happened: list[str] = []
    is_refused = False
    queue = load("call_queue").create_call_queue(lambda: is_refused)

    def noting(text: str) -> Callable[[], None]:
        return lambda: happened.append(text)

    for number, action in enumerate(actions):
        if action == "call":
            queue.run(noting(f"run {number}"), noting(f"drop {number}"))
        elif action in {"refuse", "allow"}:
            is_refused = action == "refuse"
        else:
            queue[action]()
    assert happened == expected_of(actions)


def test_a_call_made_by_a_call_keeps_its_place() -> None:
    """What a call does while the queue is being opened runs at once, since the queue is open by then."""
    queue = load("call_queue").create_call_queue(lambda: False)
    happened: list[str] = []
    queue.run(lambda: queue.run(lambda: happened.append("inner"), None), None)
    queue.run(lambda: happened.append("second"), None)
    queue.open()
    assert happened == ["inner", "second"]
