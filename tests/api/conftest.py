"""Fixtures of tests of the APIs."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from backend.operations.logs import configure_logs

LOGGERS = ("waylink", "backend")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the service logs at the level info."""
    before = {name: (logging.getLogger(name).handlers, logging.getLogger(name).level) for name in LOGGERS}
    stream = io.StringIO()
    configure_logs("info", stream)
    yield stream
    for name, (handlers, level) in before.items():
        logger = logging.getLogger(name)
        logger.handlers, logger.level, logger.propagate = handlers, level, True
