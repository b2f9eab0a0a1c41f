"""Log lines about many requests: few, and with the number of all."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest

from backend.concurrency.counted_log import CountedLog
from tests.polling import until

LOGGER = logging.getLogger("tests.counted")


def told(caplog: pytest.LogCaptureFixture) -> int:
    """How many times the lines say that something happened."""
    more = (re.search(r"\(so ([\d,]+) more times", line) for line in caplog.messages)
    return sum(int(number[1].replace(",", "")) if number else 1 for number in more)


async def test_a_line_of_each_kind_and_then_their_number(caplog: pytest.LogCaptureFixture) -> None:
    """The first comes at once, all others are counted, and the last of them is shown."""
    counted = CountedLog(LOGGER, seconds=0.05)
    for number in range(6_840):
        counted.warning("The storage can't be reached", f"The storage can't be reached: {number}")
    counted.warning("A page took too long")
    assert caplog.messages == ["The storage can't be reached: 0", "A page took too long"]
    await until(lambda: told(caplog) == 6_841, "the number of all")
    assert caplog.messages[2] == "The storage can't be reached: 6839 (so 6,839 more times within 0.05 s)"
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


async def test_after_a_quiet_time_the_next_comes_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is written about what did not happen."""
    counted = CountedLog(LOGGER, seconds=0.02)
    counted.warning("once")
    await until(lambda: not counted._lines, "it is forgotten")
    counted.warning("once")
    assert caplog.messages == ["once"] * 2


async def test_no_fault_hides_another(caplog: pytest.LogCaptureFixture) -> None:
    """Errors of one class that come from two places each have their traceback."""
    counted = CountedLog(LOGGER, seconds=60)
    for number in range(10):
        try:
            if number % 2:
                raise KeyError("here")
            raise KeyError("there")
        except KeyError as error:
            counted.error("A request failed", error=error)
    assert caplog.messages == ["A request failed"] * 2
    assert {str(record.exc_info[1]) for record in caplog.records if record.exc_info} == {"'here'", "'there'"}
    await asyncio.sleep(0)
