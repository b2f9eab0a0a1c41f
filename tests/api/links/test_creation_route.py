"""The routes that create single links, which are no framework's: what it does for others holds there too."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.json_api import asgi_request, error_table
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from tests.api.conftest import lines_of_requests
from tests.api.link_calls import API, link_body
from tests.facts.organizations import TestOrganization
from tests.raw_request import RawRequest

pytestmark = pytest.mark.parametrize("path", [f"{API}/create-link", f"{API}/links"])


async def test_headers_of_each_answer(
    client: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """Made or refused: no cache keeps it, the limit and the id are there, and the type is that of JSON."""
    headers = organization.headers | {"X-Request-Id": "trace-12345"}
    made = await client.post(path, json=link_body(organization), headers=headers)
    refused = await client.post(path, json={}, headers=headers)
    assert (made.status_code, refused.status_code) == (201, 400)
    for answer in (made, refused):
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Vary"] == "API-KEY"
        assert answer.headers["X-Request-Id"] == "trace-12345"
        assert int(answer.headers["RateLimit-Remaining"]) < int(answer.headers["RateLimit-Limit"])


async def test_other_methods(client: httpx.AsyncClient, organization: TestOrganization, path: str) -> None:
    """What is there for POST is named to who asks otherwise."""
    assert "POST" in (await client.options(path, headers=organization.headers)).headers["Allow"]
    wrong = await client.delete(path, headers=organization.headers)
    assert (wrong.status_code, wrong.json()) == (405, error_table.METHOD_NOT_ALLOWED.body())
    assert "POST" in wrong.headers["Allow"]


async def test_slashes_in_front(client: httpx.AsyncClient, organization: TestOrganization, path: str) -> None:
    """Behind more slashes than one it is the same route, as every other one of the API."""
    address = f"{client.base_url}/{path}"
    made = await client.post(address, json=link_body(organization), headers=organization.headers)
    assert made.request.url.raw_path.startswith(b"//")
    assert made.status_code == 201


async def test_another_media_type(
    client: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """A body that is said to be no JSON is refused; one of which nothing is said is read."""
    body = json.dumps(link_body(organization)).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    refused = await client.post(path, content=body, headers=organization.headers | form)
    assert (refused.status_code, refused.json()) == (415, error_table.MEDIA_TYPE_WRONG.body())
    for said in ({}, {"Content-Type": "Application/Vnd.Api+JSON; charset=utf-8"}):
        made = await client.post(path, content=body, headers=organization.headers | said)
        assert made.status_code == 201


async def test_a_body_that_does_not_end_and_one_whose_sender_leaves(
    service: Service, organization: TestOrganization, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one is waited for only so long; nobody is answered for the other."""
    key = [(name.lower().encode(), value.encode()) for name, value in organization.headers.items()]
    left = RawRequest(service, path, key)
    left.pieces.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    left.pieces.put_nowait({"type": "http.disconnect"})
    await asyncio.wait_for(left.run(), timeout=20)
    assert left.answer == []
    monkeypatch.setattr(asgi_request, "_BODY_SECONDS", 0.05)
    endless = RawRequest(service, path, key)
    endless.pieces.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    await asyncio.wait_for(endless.run(), timeout=20)
    assert json.loads(endless.answer[1]["body"]) == error_table.BODY_TOO_SLOW.body()


async def test_a_bad_creation_among_others(
    client: httpx.AsyncClient, organization: TestOrganization, path: str
) -> None:
    """Of those that are stored together, each has its own result: only the bad ones are refused."""

    async def post(**fields: Any) -> httpx.Response:
        return await client.post(path, json=link_body(organization, **fields), headers=organization.headers)

    assert (await post(selected_path="there")).status_code == 201
    bad = [{"selected_path": "there"}, {"domain": "someone.else.example"}, {"destination_url": "no address"}]
    answers = await asyncio.gather(*(post(**fields) for fields in [{}, *bad, {}, {"selected_path": "new"}]))
    refused = (error_table.PATH_TAKEN.status, error_table.DOMAIN_NOT_CONFIGURED.status, 400)
    assert [answer.status_code for answer in answers] == [201, *refused, 201, 201]


async def test_a_fault_shows_no_internals(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, path: str, log: io.StringIO
) -> None:
    """An organization that can't be read: the caller reads that the service failed, the log says where."""
    stored, wrong = database[organizations.NAME], {"destination_rules": "secret@example.com"}
    headers = organization.headers | {"X-Request-Id": "trace-12345"}
    await stored.update_one({"_id": organization.id}, {"$set": wrong})
    try:
        answer = await client.post(path, json=link_body(organization), headers=headers)
    finally:  # other tests read all organizations
        await stored.update_one({"_id": organization.id}, {"$unset": wrong})
    assert (answer.status_code, answer.json()) == (500, error_table.SERVER_FAULT.body())
    assert answer.headers["X-Request-Id"] == "trace-12345"
    lines = lines_of_requests(log)
    assert any(line["level"] == "error" and line["request_id"] == "trace-12345" for line in lines)
    assert "secret@example.com" not in log.getvalue()
