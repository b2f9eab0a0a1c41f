"""A short URL leads to its link's destination, whatever its visitor adds to it."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service
from tests.api.link_calls import create
from tests.facts.organizations import TestOrganization
from tests.security.raw_request import answer_to

# Behind the short URL's path, as bytes that no browser has put in order.
ADDED = [
    b"?url=https://evil.example", b"?next=//evil.example", b"?@evil.example/", b"?://evil.example",
    b"?#@evil.example/", b"?\\evil.example", b"?%0d%0aLocation:%20https://evil.example", b"?cl_link_id=x",
    b"?\r\nLocation: https://evil.example", b"?utm_source=//evil.example", b"?&&&@evil.example",
    b"?.evil.example", b"?%2e%2e%2f%2f", b"?" + b"/" * 50 + b"evil.example",
]  # fmt: skip
# Instead of the short URL's path.
PATHS = [
    b"//evil.example", b"//evil.example/%2e%2e", b"/\\evil.example", b"/%5cevil.example",
    b"/%2f%2fevil.example", b"/.evil.example", b"/@evil.example", b"/https://evil.example",
    b"https://evil.example/", b"/%0d%0aLocation:x", b"/\t/evil.example", b"/..//evil.example",
]  # fmt: skip


@pytest.mark.parametrize("destination", ["https://shop.example", "https://shop.example/kites?a=1#top"])
async def test_nothing_that_is_added_leads_elsewhere(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization, destination: str
) -> None:
    """The scheme and host of the redirect are the destination's, for every query and forwarding header."""
    short_url = await create(client, organization, destination_url=destination)
    path = urlsplit(short_url).path.encode()
    forwarded = [(b"x-forwarded-host", b"evil.example"), (b"forwarded", b"host=evil.example")]
    for added in [b"", *ADDED]:
        answer = await answer_to(service, organization.domain, path + added, *forwarded)
        parts = urlsplit(answer.location or "")
        assert (answer.status, parts.scheme, parts.netloc) == (302, "https", "shop.example"), added


@pytest.mark.parametrize("path", PATHS)
async def test_a_path_that_is_an_address_leads_nowhere(
    service: Service, organization: TestOrganization, path: bytes
) -> None:
    """An address in place of a path is no link: the error page, and no redirect."""
    answer = await answer_to(service, organization.domain, path)
    assert (answer.status, answer.location) == (404, None)


@pytest.mark.parametrize("path", [*PATHS, b"/links//evil.example", b"/assets/..//evil.example"])
async def test_the_api_host_redirects_to_itself_only(service: Service, path: bytes) -> None:
    """The dashboard sends one to its own pages: no redirect names a host."""
    answer = await answer_to(service, "localhost", path, (b"accept", b"text/html"))
    parts = urlsplit(answer.location or "")
    assert (parts.scheme, parts.netloc) == ("", "")
    assert "\\" not in parts.path
