"""What scim2-tester, of the makers of the library, finds out about the running service."""

from __future__ import annotations

import httpx2

from backend.domain.accounts.api_keys import KeyKind
from tests.processes.service_process import ServiceProcess


def test_the_service_speaks_scim(running: ServiceProcess) -> None:
    """All checks pass: of discovery, and of making, reading, searching, changing and deleting either kind."""
    # Its models take seconds to load, which each process of the tests would spend.
    from scim2_client.engines.httpx2 import SyncSCIMClient
    from scim2_tester import Status, check_server

    org_id = running.command("organization", "create", "Acme")["id"]
    token = running.command("key", "create", "--org", org_id, "--kind", KeyKind.SCIM.value)["key"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=f"{running.base_url}/scim/v2", headers=headers, timeout=60) as client:
        results = check_server(SyncSCIMClient(client))
    wrong = [f"{result.title}: {result.reason}" for result in results if result.status is not Status.SUCCESS]
    assert wrong == []
    assert len(results) > 60
