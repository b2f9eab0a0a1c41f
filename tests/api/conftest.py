"""Fixtures of tests of the APIs."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from backend.operations.logs import configure_logs
from tests.api.whole_links import Links
from tests.facts.organizations import TestOrganization

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


def lines_of_requests(log: io.StringIO) -> list[dict[str, Any]]:
    """The lines that were logged for requests.

    What the service does beside them may warn at any moment on a busy machine, as when MongoDB is slow.
    """
    return [line for line in map(json.loads, log.getvalue().splitlines()) if "request_id" in line]


@pytest.fixture
def links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The links of this test's organization."""
    return Links(client, organization)
