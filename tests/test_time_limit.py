"""The limit on tests that do not end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import Event

import pytest
import uvloop

from tests.processes.time_limit import time_limit


async def turn_for_ever() -> None:
    """Have the event loop call something in each of its turns."""
    loop = asyncio.get_running_loop()

    def turn() -> None:
        loop.call_soon(turn)

    turn()
    await asyncio.Event().wait()


async def wait_for_ever() -> None:
    """Leave the event loop nothing to do."""
    await asyncio.Event().wait()


def work_for_ever() -> None:
    """Never end."""
    while True:
        pass


@pytest.fixture(autouse=True)
def no_running_loop() -> Iterator[None]:
    """In a process that has begun tests in a browser, Playwright's loop counts as running."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.mark.parametrize("endless", [work_for_ever, lambda: Event().wait()])
def test_what_never_ends_fails(endless: Callable[[], object]) -> None:
    """Whether it works, or waits for another thread."""
    with pytest.raises(pytest.fail.Exception, match=r"did not end within 0\.2 seconds"), time_limit(0.2):
        endless()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("endless", [turn_for_ever, wait_for_ever])
def test_an_event_loop_that_never_ends_fails(
    run: Callable[[object], object], endless: Callable[[], object]
) -> None:
    """Whether the loop turns or waits, with a word on what its tasks wait for."""
    with pytest.raises(pytest.fail.Exception, match=f"{endless.__name__} > "), time_limit(0.2):
        run(endless())


def test_what_ends_is_left_alone() -> None:
    """Nothing fails behind the block."""
    with time_limit(0.1):
        pass
    Event().wait(0.3)
