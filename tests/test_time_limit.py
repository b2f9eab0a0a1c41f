"""The limit on tests that do not end."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from tests.processes.time_limit import time_limit


async def turn_for_ever() -> None:
    """Have the event loop call something in each of its turns."""
    loop = asyncio.get_running_loop()

    def turn() -> None:
        loop.call_soon(turn)

    turn()
    await asyncio.Event().wait()


def work_for_ever() -> None:
    """Never end."""
    while True:
        pass


@pytest.mark.parametrize(
    "endless", [work_for_ever, lambda: Event().wait(), lambda: asyncio.run(turn_for_ever())]
)
def test_what_never_ends_fails(endless: object) -> None:
    """Whether it works, waits for another thread, or has an event loop turn."""
    assert callable(endless)
    with pytest.raises(pytest.fail.Exception, match=r"did not end within 0\.2 seconds"), time_limit(0.2):
        endless()


def test_what_ends_is_left_alone() -> None:
    """Nothing fails behind the block."""
    with time_limit(0.1):
        pass
    Event().wait(0.3)
