"""Fixtures of tests of the APIs."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import httpx
import pytest

from backend.operations.logs import configure_logs
from tests.api.whole_links import Links
from tests.organizations import TestOrganization

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


@pytest.fixture
def links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The links of this test's organization."""
    return Links(client, organization)
