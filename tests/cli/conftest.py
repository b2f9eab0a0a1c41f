"""Fixtures of the command line's tests."""

from __future__ import annotations

import pytest

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> OrgId:
    """An organization made by the command line."""
    return OrgId(running.command("organization", "create", "Acme")["id"])
