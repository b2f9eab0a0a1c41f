"""Fixtures of the command line's tests."""

from __future__ import annotations

import pytest

from tests.service_process import ServiceProcess


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> str:
    """An organization made by the command line."""
    return str(running.command("organization", "create", "Acme")["id"])
