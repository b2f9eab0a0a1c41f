"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backend.domain.ids import OrgId
from tests.conftest import ServiceStarter
from tests.processes.service_process import ServiceProcess


@pytest.fixture(scope="package")
def running(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """The service as a process, with default settings, for all files: each makes organizations, domains and
    users of its own."""
    with start_service() as running:
        yield running


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> OrgId:
    """An organization made by the command line."""
    return OrgId(running.command("organization", "create", "Acme")["id"])
