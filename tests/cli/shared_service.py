"""The running service for all files of a folder: each makes organizations, domains and users of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import ServiceStarter
from tests.processes.service_process import ServiceProcess


@pytest.fixture(scope="package")
def running(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """The service as a process, with default settings."""
    with start_service() as running:
        yield running
