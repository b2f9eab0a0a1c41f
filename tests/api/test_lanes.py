"""Slow questions to MongoDB of one organization, and what others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.api_keys import ApiKey, KeyKind, hash_key
from backend.storage.accounts import key_cache
from backend.storage.accounts.api_keys import find_active_key
from backend.storage.driver.lanes import in_lane
from backend.storage.driver.mongo import Database
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
        with service._requests.used(busy.id):
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


async def test_unknown_keys_of_one_sender_hold_up_no_other(
    client: httpx.AsyncClient,
    service: Service,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While keys that one address makes up are looked up slowly, the key of another is found."""
    other = await make_organization()
    may_end = threading.Event()

    async def find_slowly(database: Database, key_hash: str, now: datetime) -> ApiKey | None:
        if key_hash in made_up:
            await in_lane(lambda: may_end.wait(60))
        return await find_active_key(database, key_hash, now)

    keys = [f"{KeyKind.REST.prefix}{number:032x}" for number in range(40)]
    made_up = {*map(hash_key, keys)}
    monkeypatch.setattr(key_cache, "find_active_key", find_slowly)
    transport = httpx.ASGITransport(app=service, client=("198.51.100.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url=client.base_url) as sender:
        slow = [
            asyncio.ensure_future(sender.get(f"{API}/links/page", headers={"API-KEY": key})) for key in keys
        ]
        try:
            await until(lambda: sum(service._requests._busy.values()) >= 12, "the look-ups do not begin")
            found = await asyncio.wait_for(client.get(f"{API}/links/page", headers=other.headers), 10)
            assert found.status_code == 200
        finally:
            may_end.set()
        assert {answer.status_code for answer in await asyncio.gather(*slow)} == {401}
