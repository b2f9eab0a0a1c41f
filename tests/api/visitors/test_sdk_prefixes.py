"""The SDK's addresses under names of a site's choosing (`WAYLINK_SDK_PREFIXES`)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from backend.app import Service
from backend.sdk_api.prefixes import SdkPrefixes
from backend.settings import InvalidSetting
from backend.web.sdk_files import build
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, check

PREFIXES = ("/a", "/a/hello", "/hi")


@pytest.fixture
async def named(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service under test, with these prefixes."""
    transport = httpx.ASGITransport(app=SdkPrefixes(service.api, PREFIXES, service))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield client


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".js", "/waylink.js"),
        (".json", "/waylink.json"),
        ("-links.js", "/waylink-links.js"),
        ("-domains.js", "/waylink-domains.js"),
        ("/waylink.js", "/waylink.js"),
        ("/waylink-links.js", "/waylink-links.js"),
        ("/waylink.json", "/waylink.json"),
        (f"/waylink-{build()}.js", f"/waylink-{build()}.js"),
    ],
)
async def test_the_files_under_a_prefix(
    named: httpx.AsyncClient, client: httpx.AsyncClient, prefix: str, path: str, own: str
) -> None:
    """Name and folder give what the service's own address gives, headers included."""
    answers = [await named.get(prefix + path), await client.get(own)]
    for answer in answers:
        del answer.headers["X-Request-Id"]
    assert answers[0].status_code == 200
    assert answers[0].content == answers[1].content
    assert answers[0].headers == answers[1].headers


@pytest.mark.parametrize("path", ["", "/serviceCore/sdk/v1/batch"])
@pytest.mark.parametrize("prefix", PREFIXES)
async def test_calls_under_a_prefix(
    named: httpx.AsyncClient, organization: TestOrganization, prefix: str, path: str
) -> None:
    """A batch is stored; a preflight from an allowed origin is answered."""
    batch = Visitor(named, organization).envelope(check())
    headers = {"Origin": organization.origin}
    answer = await named.post(prefix + path, json=batch, headers=headers)
    assert answer.json()["results"][0]["status"] == "accepted"
    preflight = await named.options(prefix + path, headers=headers)
    assert preflight.headers["Access-Control-Allow-Origin"] == organization.origin


@pytest.mark.parametrize(
    "path",
    [
        "/a/sign-in",
        "/a/metrics",
        "/a/serviceCore/pa/v1/links/page",
        "/a/serviceCore/sdk/v1/../../pa/v1/links/page",
        "/a/hello.js.map",
        "/a/hello-other.js",
        "/a/hellothere",
        "/a/hello/",
        "/b/hello.js",
        "/a.jsx",
    ],
)
async def test_nothing_else_is_under_a_prefix(named: httpx.AsyncClient, path: str) -> None:
    """Pages of the dashboard, the REST API and other paths are unknown there."""
    assert (await named.get(path)).status_code == 404


async def test_the_own_addresses_stay(named: httpx.AsyncClient) -> None:
    """What the service answers without a prefix, it still answers."""
    assert (await named.get("/waylink.js")).status_code == 200
    assert (await named.get("/sign-in")).status_code == 200


@pytest.mark.parametrize("path", ["/sign-in", "/links", "/metrics", "/waylink.js", "/links/page", BATCH])
def test_a_page_of_the_service_is_no_prefix(service: Service, path: str) -> None:
    """A prefix that would hide something of the service's own is refused, with the setting's name."""
    with pytest.raises(InvalidSetting, match=f"WAYLINK_SDK_PREFIXES is '{path}'"):
        SdkPrefixes(service.api, [path], service)
