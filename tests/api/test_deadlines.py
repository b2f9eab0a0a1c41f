"""The deadline of a request: for what it waits for in MongoDB, not for what takes others their time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from backend.storage.accounts.users.passwords import HASHING
from tests.api.link_calls import API, link_body
from tests.api.whole_links import Links
from tests.facts.organizations import TestOrganization
from tests.stopped_thread import stopped

# A deadline for which no body waits that comes so much later.
SECONDS, LATE = 1.0, 1.2


@pytest.mark.parametrize("path", ["/links", "/links/bulk"])
async def test_a_body_that_comes_slowly_takes_nothing_of_it(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is long in sending a request has as much time for the answer as everybody."""
    monkeypatch.setattr("backend.web.current.REQUEST_SECONDS", SECONDS)
    link = link_body(organization)
    body = json.dumps(link if path == "/links" else {"operations": [{"op": "create", "link": link}]}).encode()

    async def slowly() -> AsyncIterator[bytes]:
        yield body[:10]
        await asyncio.sleep(LATE)
        yield body[10:]

    headers = organization.headers | {"Content-Type": "application/json"}
    answer = await client.post(API + path, content=slowly(), headers=headers)
    assert answer.is_success, answer.text


async def test_passwords_take_nothing_of_it(
    client: httpx.AsyncClient, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bulk whose passwords wait for others, and are hashed for longer, is carried out all the same."""
    monkeypatch.setattr("backend.web.current.REQUEST_SECONDS", SECONDS)
    links = Links(client, organization)
    create = {"op": "create", "link": link_body(organization, password="kites")}
    async with stopped(HASHING):
        asked = asyncio.create_task(links.call("POST", "/bulk", {"operations": [create] * 2}))
        await asyncio.sleep(LATE)
        assert not asked.done()
    assert [result["status"] for result in (await asked).json()["results"]] == ["created"] * 2
