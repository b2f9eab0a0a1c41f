"""Requests whose end two servers could see in different places: refused, and never answered twice.

Each is sent as raw bytes to a real service, with another request behind it that must not come through.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.conftest import ServiceStarter

SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
BATCH = b"POST /serviceCore/sdk/v1/batch HTTP/1.1\r\nHost: localhost\r\n"

REFUSED = {
    "Content-Length and Transfer-Encoding": BATCH
    + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "Transfer-Encoding and Content-Length": BATCH
    + b"Transfer-Encoding: chunked\r\nContent-Length: 48\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "two Content-Lengths": BATCH + b"Content-Length: 0\r\nContent-Length: 43\r\n\r\n" + SMUGGLED,
    "a list of Content-Lengths": BATCH + b"Content-Length: 0, 43\r\n\r\n" + SMUGGLED,
    "a Content-Length with a sign": BATCH + b"Content-Length: +0\r\n\r\n" + SMUGGLED,
    "a negative Content-Length": BATCH + b"Content-Length: -1\r\n\r\n" + SMUGGLED,
    "a hexadecimal Content-Length": BATCH + b"Content-Length: 0x0\r\n\r\n" + SMUGGLED,
    "a Content-Length that is no number": BATCH + b"Content-Length: a\r\n\r\n" + SMUGGLED,
    "a name with a space before the colon": BATCH + b"Content-Length : 43\r\n\r\n" + SMUGGLED,
    "Transfer-Encoding with a space before the colon": BATCH
    + b"Content-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "another Transfer-Encoding": BATCH + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "two Transfer-Encodings": BATCH
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "a Transfer-Encoding after a vertical tab": BATCH
    + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "a bare LF in a header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\nY: b\r\n\r\n" + SMUGGLED,
    "a bare LF that hides a header": BATCH
    + b"Content-Length: 5\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "bare LFs only": SMUGGLED.replace(b"\r\n", b"\n") + SMUGGLED,
    "a bare LF as the blank line": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n" + SMUGGLED,
    "a bare LF after the request line": b"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n" + SMUGGLED,
    "a bare CR in a header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rY: b\r\n\r\n" + SMUGGLED,
    "a NUL in a header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n" + SMUGGLED,
    "a byte above ASCII in the target": b"GET /\x85 HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "a control character in the target": b"GET /\x0b HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "no Host": b"GET /healthz HTTP/1.1\r\n\r\n" + SMUGGLED,
    "two Hosts": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n" + SMUGGLED,
    "a header without a colon": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nnothing\r\n\r\n" + SMUGGLED,
    "a chunk size with a sign": BATCH + b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n" + SMUGGLED,
    "a chunk that ends with a bare LF": BATCH
    + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\n0\r\n\r\n"
    + SMUGGLED,
    "a bare LF in a trailer": BATCH
    + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\nY: b\r\n\r\n"
    + SMUGGLED,
    "a bare LF that ends the trailers": BATCH
    + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: a\r\n\n"
    + SMUGGLED,
    "a bare LF instead of trailers": BATCH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n" + SMUGGLED,
    "a target of another scheme": b"GET ftp://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    + SMUGGLED,
    "a user name in the target": b"GET http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
    + SMUGGLED,
    "a target that is no path": b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "a chunk longer than it says": BATCH
    + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n"
    + SMUGGLED,
    "a line that is too long": b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "headers that are too large": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    + b"X: " + b"a" * 200_000 + b"\r\n\r\n" + SMUGGLED,
    "too many headers": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    + b"".join(b"X%d: a\r\n" % number for number in range(20_000)) + b"\r\n" + SMUGGLED,
    "another protocol": b"GET /healthz SPDY/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "a TLS handshake": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500) + b"\r\n\r\n" + SMUGGLED,
}  # fmt: skip


@pytest.fixture(scope="module")
def address(start_service: ServiceStarter) -> Iterator[tuple[str, int]]:
    """Where a real service listens that closes idle connections soon."""
    with start_service(WAYLINK_KEEP_ALIVE_SECONDS="2") as running:
        yield "127.0.0.1", urlsplit(running.base_url).port or 0


def answers_to(address: tuple[str, int], request: bytes) -> list[int]:
    """The statuses of everything that comes back until the service closes the connection."""
    with socket.create_connection(address, timeout=30) as connection:
        try:
            connection.sendall(request)
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:  # it closed while much was still on its way
            return []
    return [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d+)", received, re.MULTILINE)]


@pytest.mark.parametrize("name", REFUSED)
def test_an_ambiguous_request_is_refused(address: tuple[str, int], name: str) -> None:
    """One 4xx or 501 at most, then the connection is closed: what came behind is not read as a request."""
    statuses = answers_to(address, REFUSED[name])
    assert len(statuses) <= 1
    assert all(400 <= status < 500 or status == 501 for status in statuses)


def test_the_smuggled_request_is_one_that_is_answered(address: tuple[str, int]) -> None:
    """Sent by itself it gets 200; so its absence above means something."""
    last = SMUGGLED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert answers_to(address, last) == [200]
    assert answers_to(address, SMUGGLED + last) == [200, 200]


def test_the_same_length_twice_is_one_length(address: tuple[str, int]) -> None:
    """RFC 9110 lets a server take identical Content-Lengths as one; it reads that many bytes, no more."""
    head = b"Content-Length: 2\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\n{}"
    last = SMUGGLED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert answers_to(address, BATCH + head + last) == [401, 200]


def test_trailers_are_read(address: tuple[str, int]) -> None:
    """Trailers whose lines end as they must are no reason to refuse, wherever they are cut on their way."""
    chunked = BATCH + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: a\r\n\r\n"
    last = SMUGGLED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert answers_to(address, chunked + last) == [401, 200]


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost/healthz", "go.shop.example", 200),
        ("HTTPS://localhost:1/healthz?a=b", "go.shop.example", 200),
        ("http://go.shop.example/healthz", "localhost", 404),
        ("http://localhost", "go.shop.example", 303),
        ("http://localhost?q=1", "go.shop.example", 303),
    ],
)
def test_a_target_with_a_host_is_routed_by_it(
    address: tuple[str, int], target: str, host: str, status: int
) -> None:
    """The Host header beside it does not count (RFC 9112, 3.2.2); a proxy in front may look at either."""
    request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert answers_to(address, request.encode()) == [status]


@pytest.mark.parametrize(
    "request_head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\n"
        b"Connection: close, Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    ],
    ids=["upgrade", "prior knowledge"],
)
def test_http_2_without_tls_is_not_spoken(address: tuple[str, int], request_head: bytes) -> None:
    """No switch of protocols that a proxy in front would not follow."""
    assert 101 not in answers_to(address, request_head)


def test_a_head_that_never_ends_is_dropped(address: tuple[str, int]) -> None:
    """A client that begins a request and goes quiet does not keep its connection."""
    assert answers_to(address, b"GET /healthz HTTP/1.1\r\nHost: local") == []


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_nothing_of_the_server(address: tuple[str, int], name: str) -> None:
    """Neither its name nor a line of code stands in the answer."""
    with socket.create_connection(address, timeout=30) as connection:
        try:
            connection.sendall(REFUSED[name])
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            received = b""
    assert not re.search(rb"(?i)hypercorn|h11|quart|traceback|python", received)
