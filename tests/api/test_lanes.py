"""Slow questions to MongoDB of one organization, and what others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading

import httpx

from backend.app import Service
from backend.storage.driver.lanes import in_lane, owned_by
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.polling import until


async def test_slow_questions_of_one_organization_hold_up_no_other(
    client: httpx.AsyncClient, service: Service, make_organization: OrganizationFactory
) -> None:
    """Where an organization has more of them under way than there are threads, its own next request waits,
    and another organization is answered."""
    busy, other = await make_organization(), await make_organization()
    may_end = threading.Event()

    async def ask_slowly() -> None:
        with service._requests.used():
            owned_by(busy.id)
            await in_lane(lambda: may_end.wait(60))

    slow = [asyncio.ensure_future(ask_slowly()) for _ in range(40)]
    try:
        await until(lambda: service._requests._busy[busy.id] == 12, "the questions do not begin")
        own = asyncio.ensure_future(client.get(f"{API}/links/page", headers=busy.headers))
        answer = await client.get(f"{API}/links/page", headers=other.headers)
        assert (answer.status_code, own.done()) == (200, False)
    finally:
        may_end.set()
    assert (await own).status_code == 200
    await asyncio.gather(*slow)
