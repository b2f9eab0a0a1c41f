"""How a worker process begins."""

from __future__ import annotations

import gc

from backend.serving.job import load_application
from backend.settings import Settings


def test_garbage_is_collected_once_the_application_is_imported() -> None:
    """Not before, and from then on only in what is made while it serves."""
    gc.unfreeze()
    load_application(Settings())
    assert (gc.isenabled(), gc.get_freeze_count() > 1000) == (True, True)
