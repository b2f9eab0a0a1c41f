"""The route of batches, which is no framework's: what the framework does for others holds there too."""

from __future__ import annotations

import asyncio
import io
import json

import httpx
import pytest

from backend.app import Service
from backend.json_api import asgi_request, error_table
from backend.storage.driver.mongo import Database
from backend.storage.visitors import devices
from tests.api.conftest import lines_of_requests
from tests.facts.sdk_batches import BATCH, Visitor, call
from tests.raw_request import RawRequest


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
async def test_a_wrong_method(client: httpx.AsyncClient, method: str) -> None:
    """It is answered from the error table, with the methods that there are and an id."""
    answer = await client.request(method, BATCH, headers={"X-Request-Id": "trace-12345"})
    assert answer.status_code == 405
    assert method == "HEAD" or answer.json() == error_table.METHOD_NOT_ALLOWED.body()
    assert answer.headers["Allow"] == "OPTIONS, POST"
    assert answer.headers["X-Request-Id"] == "trace-12345"


async def test_a_body_that_does_not_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for only so long."""
    monkeypatch.setattr(asgi_request, "_BODY_SECONDS", 0.05)
    request = RawRequest(service, BATCH)
    request.pieces.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    await asyncio.wait_for(request.run(), timeout=20)
    assert request.answer[0]["status"] == 408
    assert json.loads(request.answer[1]["body"]) == error_table.BODY_TOO_SLOW.body()


async def test_a_client_that_goes_away_in_the_middle(service: Service) -> None:
    """Nobody is answered, and the request ends."""
    request = RawRequest(service, BATCH)
    request.pieces.put_nowait({"type": "http.request", "body": b"{", "more_body": True})
    request.pieces.put_nowait({"type": "http.disconnect"})
    await asyncio.wait_for(request.run(), timeout=20)
    assert request.answer == []


async def test_a_body_in_many_pieces(service: Service, visitor: Visitor) -> None:
    """However it is cut, it is one body."""
    origin = (b"origin", visitor.organization.origin.encode())
    request = RawRequest(service, BATCH, [origin, (b"content-type", b"text/plain")])
    body = json.dumps(visitor.envelope(call("event", name="seen"))).encode()
    for number in range(len(body)):
        is_last = number == len(body) - 1
        piece = body[number : number + 1]
        request.pieces.put_nowait({"type": "http.request", "body": piece, "more_body": not is_last})
    await request.run()
    assert request.answer[0]["status"] == 200
    assert json.loads(request.answer[1]["body"])["results"][0]["status"] == "accepted"


async def test_a_fault_shows_no_internals(visitor: Visitor, database: Database, log: io.StringIO) -> None:
    """A stored device that can't be read: the page may read that the service failed, the log says where."""
    await visitor.results(call("event", name="seen"))
    own = {"_id": devices.own_id(visitor.organization.id, visitor.device_id)}
    await database[devices.NAME].update_one(own, {"$set": {"touches": "secret@example.com"}})
    answer = await visitor.post(call("event", name="seen"), headers={"X-Request-Id": "trace-12345"})
    assert (answer.status_code, answer.json()) == (500, error_table.SERVER_FAULT.body())
    assert answer.headers["Access-Control-Allow-Origin"] == visitor.organization.origin
    (line,) = (line for line in lines_of_requests(log) if line["level"] == "error")
    assert line["request_id"] == "trace-12345"
    assert any("devices.py" in place for place in line["trace"])
    assert "secret@example.com" not in log.getvalue()


async def test_requests_at_the_same_time_keep_their_ids(visitor: Visitor, log: io.StringIO) -> None:
    """Each answer, and each line of the log, has the id that its own request came with."""
    ids = [f"request-{number}" for number in range(20)]
    answers = await asyncio.gather(
        *(visitor.post(call("event", name="seen"), headers={"X-Request-Id": id_}) for id_ in ids)
    )
    assert [answer.headers["X-Request-Id"] for answer in answers] == ids
    lines = lines_of_requests(log)
    assert sorted(line["request_id"] for line in lines) == sorted(ids)
    assert {line["route"] for line in lines} == {BATCH}
