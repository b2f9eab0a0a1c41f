"""How a worker process begins."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from backend.serving.job import load_application
from backend.settings import Settings


@pytest.fixture
def loaded() -> Iterator[None]:
    """The application as a worker loads it; what that changes in this process is undone."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    gc.unfreeze()
    load_application(Settings())
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("loaded")
def test_garbage_is_collected_once_the_application_is_imported() -> None:
    """Not before, and from then on only in what is made while it serves."""
    assert (gc.isenabled(), gc.get_freeze_count() > 1000) == (True, True)


@pytest.mark.usefixtures("loaded")
def test_threads_take_turns_often() -> None:
    """A thread that has an answer of MongoDB does not wait five milliseconds for the event loop."""
    assert sys.getswitchinterval() == pytest.approx(0.001)
