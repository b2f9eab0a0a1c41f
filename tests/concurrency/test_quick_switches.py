"""The interval at which threads take turns, while some of them wait for the database."""

from __future__ import annotations

import contextlib
import sys

import pytest

from backend.concurrency.quick_switches import QUICK_SWITCHES


def test_threads_take_turns_sooner_until_the_last_block_ends() -> None:
    """The usual interval is back when nobody needs a shorter one, also after an error."""
    usual = sys.getswitchinterval()
    with contextlib.suppress(ConnectionError), QUICK_SWITCHES:
        with QUICK_SWITCHES:
            assert sys.getswitchinterval() == pytest.approx(0.0002)
        assert sys.getswitchinterval() == pytest.approx(0.0002)
        raise ConnectionError
    assert sys.getswitchinterval() == pytest.approx(usual)
