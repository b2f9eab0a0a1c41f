"""Paths and Host headers that no browser sends: an error page or a 400, never a fault."""

from __future__ import annotations

from typing import Any

import pytest

from backend.app import Service
from tests.redirector.conftest import LinkFactory

Headers = list[tuple[bytes, bytes]]


async def ask(service: Service, raw_path: bytes, hosts: list[bytes], query: bytes = b"") -> int:
    """The status of an answer to a request as a server hands it over."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": raw_path.decode("latin-1"), "raw_path": raw_path,
        "query_string": query, "headers": [(b"host", host) for host in hosts], "client": ("192.0.2.1", 1),
    }  # fmt: skip
    await service(scope, None, send)
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize(
    "tail",
    [
        b"%2F",
        b"/..",
        b"/../x",
        b"%00",
        b"\x00",
        b"\xff\xfe",
        b"%ff",
        b"%",
        b"%4",
        b"%zz",
        b"x" * 9000,
        b"/%2F",
        b"%252F",
    ],
)
async def test_paths_that_are_no_links(service: Service, make_link: LinkFactory, tail: bytes) -> None:
    """A path that only begins like a link's is answered with 404 and the error page."""
    link = await make_link()
    assert await ask(service, f"/{link.path}".encode() + tail, [link.domain.encode()]) == 404


async def test_hosts_in_every_spelling(service: Service, make_link: LinkFactory) -> None:
    """A port, capitals and a trailing dot name the same host; an encoded letter the same path."""
    link = await make_link()
    domain, path = link.domain.encode(), link.path.encode()
    for host in (domain, domain + b":8080", domain.upper(), domain + b"."):
        assert await ask(service, b"/" + path, [host]) == 302
    assert await ask(service, b"/%%%02X" % path[0] + path[1:], [domain]) == 302
    assert await ask(service, b"/" + path, [domain], b"x=\xff%ff&&=&\x01") == 302


async def test_hosts_that_name_nobody(service: Service, make_link: LinkFactory) -> None:
    """No host, two, or what is no host name: 400; another name: 404."""
    link = await make_link()
    domain, path = link.domain.encode(), b"/" + link.path.encode()
    for hosts in ([domain, domain], [domain, b"evil.example"], [b"a_b"], [b"\xff"], [b"a/b"]):
        assert await ask(service, path, hosts) == 400
    assert await ask(service, path, ["bücher.example".encode()]) == 404
