"""Reads requests and writes answers of the plainest form, which nearly all of them have.

h11 reads and writes every form that HTTP/1.1 has, which takes most of an empty answer's time. These functions
know only forms with one meaning: a whole request in one piece, and an answer that says how long it is. For
every other form they return None, and h11 handles it. What these functions read, h11 reads alike
(tests/serving/test_plain_exchange.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

Headers = list[tuple[bytes, bytes]]

_REQUEST_HEAD = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE|OPTIONS) (/[\x21-\x7e]*+) HTTP/1\.1\r\n"
    rb"((?:[A-Za-z0-9_-]++:[\x20-\x7e]*+\r\n)++)\r\n"
)
_ANSWER_LINES = re.compile(rb"(?:[A-Za-z0-9_-]++: [\x21-\x7e][\x20-\x7e]*+\r\n)*+")
# What decides where a message ends, or what becomes of its connection.
_OF_CONNECTIONS = frozenset(
    {b"connection", b"expect", b"http2-settings", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
_LENGTH = re.compile(rb"[0-9]{1,9}")
# Answers with these have no body, whatever they say of its length.
_WITHOUT_BODY = frozenset({204, 304})


class PlainRequest(NamedTuple):
    """A whole request. Header names are in lower case."""

    method: str
    target: bytes
    headers: Headers
    body: bytes


def read_request(data: bytes) -> PlainRequest | None:
    """The request that these bytes are, the whole of them; None if they are not one of the plainest form."""
    head = _REQUEST_HEAD.match(data)
    if head is None:
        return None
    method, target, lines = head.groups()
    headers = [
        (name.lower(), value.strip(b" "))
        for name, _, value in [line.partition(b":") for line in lines[:-2].split(b"\r\n")]
    ]
    named = dict(headers)
    # Of the headers that count here, none may come twice.
    hosts = lengths = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            lengths += 1
        elif name in _OF_CONNECTIONS and (name, value.lower()) != (b"connection", b"keep-alive"):
            return None
    length = named.get(b"content-length", b"0")
    if hosts != 1 or lengths > 1 or not _LENGTH.fullmatch(length) or len(data) - head.end() != int(length):
        return None
    return PlainRequest(method.decode(), target, headers, data[head.end() :])


class PlainHead(NamedTuple):
    """The head of an answer, and how long its body is."""

    data: bytes
    length: int


def write_head(status: int, headers: Sequence[tuple[bytes, bytes]]) -> PlainHead | None:
    """The head of an answer that keeps the connection open; None if it is not of the plainest form."""
    length = None
    for name, value in headers:
        lower = name.lower()
        if lower in _OF_CONNECTIONS or (lower == b"content-length" and length is not None):
            return None
        if lower == b"content-length":
            length = value
    if status < 200 or status in _WITHOUT_BODY or length is None or not _LENGTH.fullmatch(length):
        return None
    lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    # Counted as well: a value with a line end in it would make two good lines.
    if lines.count(b"\n") != len(headers) or not _ANSWER_LINES.fullmatch(lines):
        return None
    return PlainHead(b"HTTP/1.1 %d \r\n%b\r\n" % (status, lines), int(length))
