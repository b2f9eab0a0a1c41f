"""What scim2-tester, of the makers of the library, finds out about the service."""

from __future__ import annotations

import asyncio

import httpx
import httpx2
import pytest

from backend.domain.accounts.api_keys import KeyKind
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization


class InProcess(httpx2.BaseTransport):
    """Sends the requests of a thread to the service that runs in the loop of the tests."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The service's answer."""
        url, headers = request.url.raw_path.decode(), dict(request.headers)
        asked = self._client.request(request.method, url, content=request.read(), headers=headers)
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop).result(60)
        return httpx2.Response(answer.status_code, headers=dict(answer.headers), content=answer.content)


async def test_the_service_speaks_scim(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All checks pass: of discovery, and of making, reading, searching, changing and deleting either kind."""
    # Its models take seconds to load, which each process of the tests would spend.
    from scim2_client.engines.httpx2 import SyncSCIMClient
    from scim2_tester import Status, check_server
    from scim2_tester.utils import ResourceManager

    delete_all = ResourceManager.cleanup

    def delete_once(manager: ResourceManager) -> None:
        delete_all(manager)
        manager.resources.clear()

    # After each check it deletes what that made, and in vain all that those before made.
    monkeypatch.setattr(ResourceManager, "cleanup", delete_once)
    token, _ = await create_api_key(database, organization.id, KeyKind.SCIM, utc_now())
    headers = {"Authorization": f"Bearer {token}"}
    base_url = f"{client.base_url}/scim/v2"
    with httpx2.Client(transport=InProcess(client), base_url=base_url, headers=headers) as asking:
        results = await asyncio.to_thread(check_server, SyncSCIMClient(asking))
    wrong = [f"{result.title}: {result.reason}" for result in results if result.status is not Status.SUCCESS]
    assert wrong == []
    assert len(results) > 60
