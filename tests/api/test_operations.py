"""What operators look at: health, metrics, logs."""

from __future__ import annotations

import io
import json
import logging
import re
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from backend.app import Service, create_app
from backend.operations.logs import JsonLines
from tests.api.conftest import lines_of_requests
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion
from tests.polling import wait_for_async


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


async def metric(client: httpx.AsyncClient, name: str, **labels: str) -> float:
    """The value of a metric, 0 where it has none yet."""
    text = (await client.get("/metrics")).text
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if match and match[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', match[2] or "")) == labels:
            return float(match[3])
    return 0.0


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_healthy_service(client: httpx.AsyncClient, path: str) -> None:
    """Both answer without a key, for caches to forget."""
    response = await client.get(path)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert response.headers["Cache-Control"] == "no-store"


async def test_a_proxy_may_get_certificates_for_names_of_the_service(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """The API's host and link domains in any spelling, nothing else, and nobody who asks through a proxy."""

    async def answered(domain: str, **headers: str) -> int:
        return (await client.get("/tls/ask", params={"domain": domain}, headers=headers)).status_code

    assert await answered("localhost") == 200
    assert await answered(organization.domain) == await answered(organization.domain.upper()) == 200
    assert (
        await answered(f"www.{organization.domain}") == await answered("no name") == await answered("") == 404
    )
    assert await answered(organization.domain, **{"X-Forwarded-For": "203.0.113.9"}) == 404


async def test_calls_are_counted_by_kind_and_status(visitor: Visitor) -> None:
    """Each call of a batch, accepted, duplicate or rejected, and what has no kind of ours as unknown."""
    expected = {
        ("conversion", "accepted"): 1,
        ("conversion", "duplicate"): 1,
        ("attribution", "accepted"): 1,
        ("unknown", "rejected"): 2,
    }
    before = {
        key: await metric(visitor.client, "waylink_calls_total", kind=key[0], status=key[1])
        for key in expected
    }
    bought = conversion()
    await visitor.results(bought, bought, check(gclid="g"), call("\x1b[2J"), conversion(revenue=-1))
    for (kind, status), more in expected.items():
        now = await metric(visitor.client, "waylink_calls_total", kind=kind, status=status)
        assert now - before[kind, status] == more


async def test_refusals_and_requests_are_counted(visitor: Visitor) -> None:
    """A refused batch is counted by its status, and every request by its route, with its time."""
    labels = {"method": "POST", "route": "/serviceCore/sdk/v1/batch", "status": "403"}
    refused = await metric(visitor.client, "waylink_batch_refusals_total", status="403")
    answered = await metric(visitor.client, "waylink_requests_total", **labels)
    await visitor.post(conversion(), headers={"Origin": "https://evil.example"})
    assert await metric(visitor.client, "waylink_batch_refusals_total", status="403") == refused + 1
    assert await metric(visitor.client, "waylink_requests_total", **labels) == answered + 1
    assert await metric(visitor.client, "waylink_request_seconds_count", route=labels["route"]) > answered


async def test_made_up_paths_are_one_route(client: httpx.AsyncClient) -> None:
    """No path that someone made up becomes a label: it may hold anything, and there is no end of them."""
    for _ in range(3):
        await client.request("BREW", f"/ada@example.com/{uuid.uuid4()}")
    text = (await client.get("/metrics")).text
    assert "ada@example.com" not in text
    assert 'method="other",route="(unknown)"' in text


async def test_metrics_are_for_this_machine(client: httpx.AsyncClient, service: Service) -> None:
    """Without a token, requests from elsewhere and those that a proxy passed on find nothing."""
    assert (await client.get("/metrics")).status_code == 200
    assert (await client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"})).status_code == 404
    transport = httpx.ASGITransport(app=service, client=("203.0.113.9", 5))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as elsewhere:
        assert (await elsewhere.get("/metrics")).status_code == 404
        assert (await elsewhere.get("/healthz")).status_code == 200


@pytest.fixture
async def guarded(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client from elsewhere, of a service with a metrics token."""
    app = create_app(replace(service.settings, metrics_token="s3cret"))
    await app.startup()
    transport = httpx.ASGITransport(app=app, client=("203.0.113.9", 5))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield client
    await app.shutdown()


TOKENS: list[tuple[Any, ...]] = [("Bearer s3cret", 200), ("Bearer wrong", 404), ("s3cret", 404), ("", 404)]


async def test_a_token_opens_the_metrics(guarded: httpx.AsyncClient) -> None:
    """Who has the token may read from anywhere, and nobody else."""
    for header, status in TOKENS:
        response = await guarded.get("/metrics", headers={"Authorization": header} if header else {})
        assert response.status_code == status


async def test_a_request_has_an_id(visitor: Visitor, log: io.StringIO) -> None:
    """The id of the answer stands in the log; a proxy's id is taken over if it looks like one."""
    headers = (await visitor.client.get("/healthz", headers={"X-Request-Id": "trace-12345"})).headers
    assert headers["X-Request-Id"] == "trace-12345"
    forged = await visitor.client.get("/healthz", headers={"X-Request-Id": "ada@example.com x"})
    assert uuid.UUID(forged.headers["X-Request-Id"])
    lines = lines_of_requests(log)
    assert [line["request_id"] for line in lines] == ["trace-12345", forged.headers["X-Request-Id"]]
    assert lines[0]["route"] == "/healthz"


async def test_logs_hold_no_personal_data(visitor: Visitor, log: io.StringIO) -> None:
    """Neither keys nor what browsers sent nor paths that were asked for."""
    secrets = [visitor.organization.web_key, visitor.organization.rest_key, visitor.device_id, "ada@example"]
    await visitor.results(call("identify", customer_id="ada@example"), conversion(customer_id="ada@example"))
    await visitor.post(conversion(), headers={"Origin": "https://ada@example"})
    await visitor.client.get("/ada@example?email=ada@example")
    await visitor.client.get("/serviceCore/pa/v1/links/page", headers=visitor.organization.headers)
    assert len(lines_of_requests(log)) == 4
    assert not [secret for secret in secrets if secret in log.getvalue()]


async def test_hostile_batches_are_no_faults(visitor: Visitor, log: io.StringIO) -> None:
    """Whatever a batch holds, the log has a line for each request, and no error and no trace among them."""
    deep: Any = {}
    for _ in range(200):
        deep = {"a": [deep]}
    hostile = [deep, [], None, -1, "\x00", "\ud800", {"$gt": ""}, "A" * 20_000, 10**400]
    bodies = [visitor.envelope(call("event", name=value, metadata=value)) for value in hostile]
    bodies += [visitor.envelope() | {name: value} for name in ("calls", "device_id") for value in hostile]
    for body in bodies:
        answer = await visitor.send(json.dumps(body).encode())
        assert answer.status_code in {200, 400}
    lines = lines_of_requests(log)
    assert {line["level"] for line in lines} == {"info"}
    assert len(lines) == len(bodies)
    assert not [line for line in lines if "trace" in line]


def test_a_fault_is_logged_without_its_message() -> None:
    """The message of a database error holds documents: its type and its places are logged, on one line."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.Logger("waylink.test")
    logger.addHandler(handler)
    try:
        raise ValueError("customer ada@example.com")
    except ValueError:
        logger.exception("It failed")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["error"] == "ValueError"
    assert "test_operations.py" in json.loads(line)["trace"][0]
    assert "ada@example.com" not in line


@pytest.mark.parametrize(("method", "status"), [("GET", "404"), ("POST", "405")])
async def test_requests_to_link_domains_are_counted(
    client: httpx.AsyncClient, organization: TestOrganization, method: str, status: str
) -> None:
    """Each answer of a link domain moves the counter of its status, and is timed; those of the API do not."""
    before = await metric(client, "waylink_redirects_total", status=status)
    timed = await metric(client, "waylink_redirect_seconds_count")
    await client.request(method, "/no-such-link", headers={"Host": organization.domain})
    await client.request(method, "/no-such-path")
    assert await metric(client, "waylink_redirects_total", status=status) == before + 1
    assert await metric(client, "waylink_redirect_seconds_count") == timed + 1


async def test_a_redirect_is_counted(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A visit of a short URL moves the counter of redirects by one, and no click waits once it is shipped."""
    link = {"domain": organization.domain, "destination_url": "https://shop.example", "link_name": "n"}
    body = link | {"ios_behavior": 1, "android_behavior": 1, "selected_path": "kites"}
    created = await client.post("/serviceCore/pa/v1/create-link", json=body, headers=organization.headers)
    assert created.status_code == 201
    before = await metric(client, "waylink_redirects_total", status="302")
    answer = await client.get("/kites", headers={"Host": organization.domain})
    assert answer.status_code == 302
    assert await metric(client, "waylink_redirects_total", status="302") == before + 1
    await wait_for_async(
        lambda: metric(client, "waylink_clicks_waiting_bytes"),
        "the click was not shipped",
        lambda waiting: waiting == 0,
    )
