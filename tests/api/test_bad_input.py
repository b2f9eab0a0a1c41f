"""Input that nobody means well with: each route that reads a body has a decided answer to it."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.rest_api.openapi.document import openapi_document
from tests.api.apps.test_open import OPEN
from tests.api.link_calls import API, create, info, invalid, link_body
from tests.facts.organizations import TestOrganization

QUERY = f"{API}/analytics/query"  # may be larger than others
LINK_ID = str(uuid.UUID(int=7))
BODY_ROUTES = [
    ("POST", f"{API}/create-link"),
    ("PATCH", f"{API}/update-link/{LINK_ID}"),
    ("PATCH", f"{API}/links/change-status/{LINK_ID}"),
    ("POST", f"{API}/links/info"),
    ("POST", f"{API}/analytics"),
    ("POST", QUERY),
    ("POST", f"{API}/install-analytics"),
    ("POST", OPEN),
]
NO_OBJECT = invalid("Request body must be a JSON object")
JSON = {"Content-Type": "application/json"}


def key_of(organization: TestOrganization, path: str) -> dict[str, str]:
    """The header with the key that the route wants."""
    return {"API-KEY": organization.mobile_key if path == OPEN else organization.rest_key}


@pytest.mark.parametrize(("method", "path"), BODY_ROUTES)
async def test_what_is_no_json_object(
    client: httpx.AsyncClient, organization: TestOrganization, method: str, path: str
) -> None:
    """Anything but one JSON object in UTF-8 is refused with one sentence."""
    bodies = [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"1",
        b"{",
        b"{'a': 1}",
        b'{"a": 1}{"b": 2}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf{}",
        json.dumps({"a": 1}).encode("utf-16"),
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"\x00" * 100,
    ]
    for body in bodies:
        answer = await client.request(method, path, content=body, headers=key_of(organization, path) | JSON)
        assert (answer.status_code, answer.json()) == (400, NO_OBJECT), body[:40]


@pytest.mark.parametrize(("method", "path"), [route for route in BODY_ROUTES if route[1] != QUERY])
async def test_a_body_that_is_too_large(
    client: httpx.AsyncClient, organization: TestOrganization, method: str, path: str
) -> None:
    """More than 64 KiB is refused, whether its length is told before or not."""

    async def in_chunks() -> AsyncIterator[bytes]:
        for _ in range(65):
            yield b" " * 1024

    for content in (b" " * (64 * 1024 + 1), in_chunks()):
        answer = await client.request(
            method, path, content=content, headers=key_of(organization, path) | JSON
        )
        assert answer.status_code == 413
        assert answer.json() == {
            "code": 413,
            "errorMessage": "Content Too Large",
            "error": {
                "errorMessage": "Request body must have at most 65536 bytes",
                "fieldName": "CONTENT_TOO_LARGE",
            },
        }


async def test_a_wrong_media_type(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A body that says it is something else than JSON is refused."""
    media_types = ("text/plain", "application/x-www-form-urlencoded", "nonsense", "a/b/c")
    for (method, path), media_type in product(BODY_ROUTES, media_types):
        headers = key_of(organization, path) | {"Content-Type": media_type}
        answer = await client.request(method, path, content=b"{}", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, 415), (path, media_type)


@pytest.mark.parametrize(
    "media_type", ["application/json; charset=utf-8", "application/merge-patch+json", ""]
)
async def test_media_types_of_json(
    client: httpx.AsyncClient, organization: TestOrganization, media_type: str
) -> None:
    """JSON with a parameter, kinds of JSON, and a body that does not say what it is are read."""
    headers = organization.headers | ({"Content-Type": media_type} if media_type else {})
    body = json.dumps(link_body(organization)).encode()
    assert (await client.post(f"{API}/create-link", content=body, headers=headers)).status_code == 201


def fields_of(method: str, path: str) -> list[str]:
    """The fields that the route reads: those that the REST API's document has, or those of an open."""
    if path == OPEN:
        return ["platform", "install_id", "is_first_launch", "link_id", "short_url", "install_referrer"]
    operations = openapi_document("")["paths"][path.removeprefix(API).replace(LINK_ID, "{linkId}")]
    schema = operations[method.lower()]["requestBody"]["content"]["application/json"]["schema"]
    return list(schema["properties"])


@pytest.mark.parametrize(("method", "path"), BODY_ROUTES)
async def test_hostile_values_in_every_field(
    client: httpx.AsyncClient, organization: TestOrganization, method: str, path: str
) -> None:
    """Operators, NUL, lone surrogates, huge numbers and deep values get a decided answer, never a 5xx."""
    values = [
        '{"$ne": null}', '{"$where": "sleep(1000)"}', '["a"]', "true", '"\\u0000"', '"\\ud800"', "1e999",
        "9" * 400, "-0.0", '"' + "x" * 20_000 + '"', "[" * 500 + "]" * 500, '"a\\r\\nSet-Cookie: x=1"',
        '{"a": 1e999}', '{"a": ' + "9" * 400 + "}", '{"\\u0000": 1}', '{"__proto__": {"x": 1}}',
    ]  # fmt: skip
    base = {
        f"{API}/create-link": link_body(organization),
        OPEN: {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": False},
    }.get(path, {})
    for name in [*fields_of(method, path), "unknown"]:
        for value in values:
            fields = [f"{json.dumps(key)}: {json.dumps(given)}" for key, given in base.items() if key != name]
            body = "{" + ", ".join([*fields, f'"{name}": {value}']) + "}"
            answer = await client.request(
                method, path, content=body, headers=key_of(organization, path) | JSON
            )
            assert answer.status_code < 500, body[:200]
            if answer.status_code >= 400:
                assert {"code", "errorMessage"} < set(answer.json())


async def test_nothing_of_a_header_reaches_an_answer(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A link's values can't add headers to an answer: they were refused, or are inside JSON."""
    short_url = await create(client, organization, destination_url="https://a.example/%0d%0aX-Bad:1")
    answer = await client.post(
        f"{API}/links/info", json={"shortUrl": short_url}, headers=organization.headers
    )
    assert "X-Bad" not in answer.headers
    assert (await info(client, organization, short_url))["destination_url"].endswith("%0d%0aX-Bad:1")


@pytest.mark.parametrize("host", ["localhost", "go.nobody.example"])
async def test_a_websocket(service: Service, log: io.StringIO, host: str) -> None:
    """Nobody here speaks WebSocket: it is closed before it is open, and is no fault of the service."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "websocket", "http_version": "1.1", "scheme": "ws", "path": "/x", "raw_path": b"/x",
        "query_string": b"", "root_path": "", "headers": [(b"host", host.encode())],
        "client": ("192.0.2.1", 1), "server": ("localhost", 80), "subprotocols": [], "extensions": {},
    }  # fmt: skip
    await service(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1000}]
    # Nothing of another level: what goes on beside requests may be told of on a busy machine.
    assert not any(json.loads(line)["level"] == "error" for line in log.getvalue().splitlines())
