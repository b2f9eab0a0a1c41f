"""Nobody's browser takes an answer for something else than it says: each has `X-Content-Type-Options`, and
once, whichever host, route or error it is of."""

from __future__ import annotations

import asyncio
import itertools
import re
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service
from tests.processes.service_process import ServiceProcess

NAME = "x-content-type-options"
# These stand beside the framework's routes.
ASGI_ROUTES = ("/serviceCore/sdk/v1/batch", "/serviceCore/pa/v1/links")
BATCH = b"POST /serviceCore/sdk/v1/batch HTTP/1.1\r\nHost: localhost\r\n"
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")
RAW = {
    "no request": b"nonsense\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "a bare LF": b"GET / HTTP/1.1\nHost: localhost\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "HTTP/1.0": b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an upgrade": b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    "a long head": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "a long target": b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a large body": BATCH + b"Content-Length: 99999999999\r\n\r\n",
    "an unknown coding": BATCH + b"Transfer-Encoding: x\r\n\r\n",
    "an expectation": BATCH + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
    "a WebSocket": b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "a CONNECT": b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


def requests_of(service: Service) -> Iterator[tuple[str, str]]:
    """Method and address of every route, with ids that stand for nothing."""
    for rule in service.api.url_map.iter_rules():
        path = re.sub(r"<[^>]+>", str(uuid.uuid4()), rule.rule)
        yield from ((method, path) for method in (rule.methods or set()) - {"HEAD", "OPTIONS"})
    for path in ("/", "/sign-in", "/nothing/here", "/%ff", "//", "/..", "/scim/v2/x", *ASGI_ROUTES):
        yield from ((method, path) for method in METHODS)


async def test_every_route(running: ServiceProcess, service: Service) -> None:
    """As a stranger: pages, files, errors, redirects to the sign-in, and paths that there are not."""
    async with httpx.AsyncClient(base_url=running.base_url, timeout=60) as client:
        for method, path in requests_of(service):
            async with client.stream(method, path) as answer:
                values = answer.headers.get_list(NAME)
                assert values == ["nosniff"], (method, path, answer.status_code, values)


async def test_link_domains(running: ServiceProcess) -> None:
    """Redirects, pages, files and unknown hosts."""
    domain = f"go.{uuid.uuid4().hex}.example"
    org_id = running.command("organization", "create", "Acme")["id"]
    running.command("domain", "add", domain, "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    statuses = set()
    async with httpx.AsyncClient(base_url=running.base_url, timeout=60) as client:
        paths = ["/", "/none", "/robots.txt", "/favicon.ico", "/%00", "/.well-known/assetlinks.json"]
        for fields in ({}, {"password": "a password"}):
            link = {"domain": domain, "destination_url": "https://shop.example/", "link_name": "Sale"}
            made = await client.post("/serviceCore/pa/v1/links", json=link | fields, headers={"API-KEY": key})
            path = urlsplit(made.json()["short_url"]).path
            paths += [path, f"{path}+", f"{path}.qr"]
        for path, method in itertools.product(paths, ("GET", "HEAD", "POST", "PUT")):
            for host in (domain, "unknown.example"):
                answer = await client.request(method, path, headers={"Host": host})
                assert answer.headers.get_list(NAME) == ["nosniff"], (method, host, path, answer)
                statuses.add(answer.status_code)
    assert {200, 302, 404, 405} <= statuses, statuses


@pytest.mark.parametrize("request_", RAW.values(), ids=RAW)
async def test_what_no_application_sees(running: ServiceProcess, request_: bytes) -> None:
    """Errors that the web server itself answers."""
    address = urlsplit(running.base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(request_)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    writer.close()
    assert head.startswith(b"HTTP/1.1 ")
    assert head.lower().count(b"\r\nx-content-type-options: nosniff\r\n") == 1, head
