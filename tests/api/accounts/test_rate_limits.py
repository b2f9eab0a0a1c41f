"""Rate limits (contract, "Limits"; decisions, "rate limits")."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from backend.app import create_app
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization


@pytest.fixture
async def two_processes(settings: Settings, database: Database) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Clients of two services on one database, as two hosts are, with 5 requests a minute; the clock of one
    is two hours ahead."""
    async with AsyncExitStack() as opened:
        clients = []
        for clock in (utc_now, lambda: utc_now() + timedelta(hours=2)):
            service = create_app(replace(settings, rate_limit=5), clock)
            await service.startup()
            opened.push_async_callback(service.shutdown)
            clients.append(
                await opened.enter_async_context(
                    httpx.AsyncClient(transport=httpx.ASGITransport(app=service), base_url="http://localhost")
                )
            )
        yield clients


async def ask(client: httpx.AsyncClient, organization: TestOrganization) -> httpx.Response:
    """A request that is answered 200 within the limit."""
    return await client.get(f"{API}/links/page", headers=organization.headers)


async def test_processes_share_the_limit(
    two_processes: list[httpx.AsyncClient], organization: TestOrganization
) -> None:
    """Two hosts together allow the limit, then answer 429; their own clocks matter to nobody."""
    answers = [await ask(two_processes[number % 2], organization) for number in range(7)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == [
        "4",
        "3",
        "2",
        "1",
        "0",
        "0",
        "0",
    ]
    assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"5"}
    refused = answers[5]
    assert refused.json() == {
        "code": 429,
        "errorMessage": "Too Many Requests",
        "error": {
            "errorMessage": "The rate limit of this API key is used up; "
            "try again after the seconds in Retry-After",
            "fieldName": "RATE_LIMIT_EXCEEDED",
        },
    }
    for answer in answers[5:]:
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert refused.headers["Retry-After"] == refused.headers["RateLimit-Reset"]


async def test_keys_do_not_share_a_limit(
    two_processes: list[httpx.AsyncClient], make_organization: OrganizationFactory
) -> None:
    """One key's requests take nothing from another key."""
    one, other = await make_organization(), await make_organization()
    for _ in range(6):
        last = await ask(two_processes[0], one)
    assert last.status_code == 429
    assert (await ask(two_processes[0], other)).status_code == 200


async def test_parallel_requests_do_not_slip_through(
    two_processes: list[httpx.AsyncClient], organization: TestOrganization
) -> None:
    """Of 40 requests at once, exactly the limit is allowed."""
    answers = await asyncio.gather(*(ask(two_processes[n % 2], organization) for n in range(40)))
    assert Counter(answer.status_code for answer in answers) == {200: 5, 429: 35}


async def test_errors_carry_the_headers_too(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """An answer that refuses a body says how many requests are left as well."""
    answer = await client.post(f"{API}/analytics", content=b"{", headers=organization.headers)
    assert answer.status_code == 400
    assert int(answer.headers["RateLimit-Remaining"]) < int(answer.headers["RateLimit-Limit"])


async def test_a_fault_of_the_store_lets_requests_through(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where counting fails, requests are answered, and the log says so once, and again when it works."""
    key_id = (await database["api_keys"].find_one({"org_id": organization.id, "kind": "rest"}) or {})["_id"]
    await database.command("collMod", "rate_limits", validator={"_id": {"$not": {"$regex": key_id}}})
    with caplog.at_level(logging.WARNING, "waylink.rate_limits"):
        statuses = [(await ask(client, organization)).status_code for _ in range(3)]
        await database.command("collMod", "rate_limits", validator={})
        statuses.append((await ask(client, organization)).status_code)
    assert statuses == [200] * 4
    messages = [record.getMessage() for record in caplog.records if record.name == "waylink.rate_limits"]
    assert len(messages) == 2
    assert "not enforced" in messages[0]
    assert "enforced again" in messages[1]
