"""The files of this folder share a running service, in which each has an organization of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import ServiceStarter
from tests.processes.service_process import ServiceProcess

# That an address may send to an organization in a minute: more than any test but one does.
ADDRESS_CALLS = 300


@pytest.fixture(scope="package")
def running(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """The service as a process."""
    with start_service(WAYLINK_ADDRESS_CALL_LIMIT=str(ADDRESS_CALLS)) as running:
        yield running
