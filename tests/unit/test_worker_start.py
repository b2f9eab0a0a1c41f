"""How a worker process begins."""

from __future__ import annotations

import gc
import socket
from multiprocessing import Pipe
from pathlib import Path

import pytest

from backend.serving import worker
from backend.serving.job import Job, work
from backend.settings import Settings


def test_garbage_is_collected_once_the_application_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before, and from then on only in what is made while it serves."""
    seen: list[tuple[bool, bool]] = []
    monkeypatch.setattr(
        worker, "run_job", lambda *_: seen.append((gc.isenabled(), gc.get_freeze_count() > 1000))
    )
    gc.unfreeze()
    with socket.socket() as listener:
        work(Job(Settings(), None, listener, Path()), Pipe()[1])
    assert seen == [(True, True)]
