"""The SDK in a browser behind each first-party proxy, in front of the service (contract, SDK rule 10)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from playwright.sync_api import Page

from backend.cli import main
from tests.browser.real_service import RealService, new_shop
from tests.proxy import site_servers
from tests.proxy.site_servers import Site, SiteServer
from tests.service_process import ServiceProcess


@pytest.fixture(scope="module")
def shop(running: ServiceProcess) -> RealService:
    """The service, with an organization."""
    return new_shop(running)


@pytest.fixture(
    params=[site_servers.nginx, site_servers.caddy, site_servers.python, site_servers.mounted],
    ids=lambda each: each.__name__,
)
def site(request: pytest.FixtureRequest, shop: RealService, tmp_path: Path) -> Iterator[Site]:
    """A site behind each proxy, whose origin is allowed."""
    server: SiteServer = request.param
    with server(tmp_path, shop.base_url.replace("localhost", "127.0.0.1")) as site:
        shop.allow(site.origin)
        yield site


def test_what_the_sdk_sends_is_stored_once(page: Page, shop: RealService, site: Site) -> None:
    """The check is answered, and the conversion is stored once, with the touch that the check reported."""
    tag = f"tag-{Path(site.origin).name.replace(':', '-')}"
    page.goto(f"{site.origin}/?utm_source={tag}")
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    attribution = page.evaluate("Waylink.getAttribution()")
    assert attribution["utm_source"] == tag
    sale = {"revenue": 12.5, "currency": "EUR", "transaction_id": tag}
    page.evaluate("sale => Waylink.trackConversion(sale)", sale)
    page.evaluate("sale => Waylink.trackConversion(sale)", sale)
    (stored,) = [each for each in shop.stored("conversions") if each["transaction_id"] == tag]
    assert stored["touch"]["utm"]["utm_source"] == tag
    sent_to = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    assert {address for address in sent_to if "serviceCore" in address} == {
        f"{site.base_url}/serviceCore/sdk/v1/batch"
    }


def test_the_doctor_finds_nothing_lost(site: Site) -> None:
    """Method, path, query, body and headers of the probe arrive unchanged."""
    examined = CliRunner().invoke(main, ["doctor", "proxy", site.base_url, "--json"])
    assert json.loads(examined.stdout) == {"url": site.base_url, "ok": True, "lost": []}


def test_the_rest_of_the_service_stays_outside(site: Site) -> None:
    """The proxy passes on nothing but POST, and nothing but the SDK's addresses."""
    for method, path in (
        ("GET", "/serviceCore/sdk/v1/batch"),
        ("DELETE", "/serviceCore/sdk/v1/batch"),
        ("POST", "/serviceCore/pa/v1/create-link"),
        ("POST", "/serviceCore/sdk/v1/../../pa/v1/create-link"),
        ("GET", "/metrics"),
    ):
        answer = httpx.request(method, site.base_url + path)
        assert answer.status_code >= 400
        assert "X-Request-Id" not in answer.headers  # which every answer of the service has
