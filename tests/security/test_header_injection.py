"""What visitors and organizations send can't add a line to an answer's headers or to a log."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import httpx
import pytest

from backend.app import Service
from backend.operations.logs import configure_logs
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization
from tests.security.raw_request import answer_to

CONTROLS = [bytes([number]) for number in (*range(32), 127)] + [
    b"\xe5\x98\x8a\xe5\x98\x8d",
    b"\x85",
    b"\xc2\x85",
]
# The server refuses these in a header (test_request_smuggling.py).
FORBIDDEN = {b"\x00", b"\r", b"\n"}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the service logs at the level debug."""
    stream = io.StringIO()
    configure_logs("debug", stream)
    yield stream
    for name in ("waylink", "backend"):
        logging.getLogger(name).handlers = []


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
async def test_no_control_character_reaches_a_header(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization, control: bytes
) -> None:
    """Percent-encoded in path and query, or raw where the server lets it through: headers stay printable."""
    path = urlsplit(await create(client, organization)).path.encode()
    hostile = b"".join(b"%%%02X" % byte for byte in control) + b"Set-Cookie:%20a=1"
    raw = control + b"Set-Cookie: a=1"
    headers = () if control in FORBIDDEN else ((b"accept-language", raw), (b"referer", raw), (b"origin", raw))
    asked = [
        (organization.domain, path + b"?" + hostile, headers),
        (organization.domain, path + b"?" + raw, ()),
        (organization.domain, path + hostile, ()),
        ("localhost", b"/links?next=" + hostile, ((b"accept", b"text/html"), *headers)),
        ("localhost", b"/" + hostile, ((b"x-request-id", hostile), *headers)),
    ]
    for host, target, more in asked:
        for name, value in (await answer_to(service, host, target, *more)).headers:
            assert all(32 <= byte < 127 for byte in name + value), (name, value)
            assert name.lower() != b"set-cookie" or b"a=1" not in value


async def test_a_value_can_not_add_a_line_to_the_log(
    client: httpx.AsyncClient, organization: TestOrganization, log: io.StringIO
) -> None:
    """Each line is one JSON object, and none of them was written by who sent the request."""
    forged = '\n{"level": "error", "message": "forged"}\r\n'
    await client.get(f"/{quote(forged)}", headers={"X-Request-Id": forged.strip().replace("\n", " ")})
    body = {"domain": forged, "link_name": forged, forged: forged}
    await client.post(f"{API}/create-link", json=body, headers=organization.headers)
    logging.getLogger("waylink.test").warning("sentinel %s", forged)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert lines[-1]["message"] == f"sentinel {forged}"
    assert len(lines) >= 3
    assert [line for line in lines if line.get("message") == "forged"] == []
