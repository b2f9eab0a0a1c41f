"""The pages of the demo shop, as its server gives them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from quart.typing import TestClientProtocol as Client

from demo_site.app import DemoSite, create_demo_site
from demo_site.kites import KITES, Kite

CONFIG = DemoSite(
    api_base_url="https://links.example/waylink",
    web_key='c_web_"quoted"',
    short_url="https://go.example/fair-wind",
)
PAGES = ["/", *(f"/kites/{kite.slug}" for kite in KITES), "/checkout", "/thank-you", "/nowhere"]


@pytest.fixture
def shop() -> Client:
    """A client of the shop."""
    return create_demo_site(CONFIG).test_client()


async def page(shop: Client, path: str) -> str:
    """The HTML at this path."""
    return await (await shop.get(path)).get_data(as_text=True)


@pytest.mark.parametrize("path", PAGES)
async def test_the_policy_allows_nothing_inline(shop: Client, path: str) -> None:
    """Every page carries a policy without unsafe-anything, and only the service may be talked to."""
    policy = (await shop.get(path)).headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'self' https://links.example;" in policy


@pytest.mark.parametrize("path", PAGES)
async def test_pages_hold_nothing_inline(shop: Client, path: str) -> None:
    """No page has an inline script, style or handler, which the policy would stop."""
    html = await page(shop, path)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", html)


@pytest.mark.parametrize("path", PAGES)
async def test_pages_load_nothing_from_elsewhere(shop: Client, path: str) -> None:
    """Scripts, styles and pictures all come from the shop, and all of them are there."""
    html = await page(shop, path)
    resources = re.findall(r'<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]+)"', html)
    assert resources
    for address in resources:
        assert address.startswith("/")
        assert (await shop.get(address)).status_code == 200, address


@pytest.mark.parametrize("path", PAGES)
async def test_ids_are_unique(shop: Client, path: str) -> None:
    """An id stands once on a page, the drawings' clip paths included."""
    ids = re.findall(r'\sid="([^"]+)"', await page(shop, path))
    assert len(ids) == len(set(ids))


async def test_the_sdk_is_told_key_and_address(shop: Client) -> None:
    """The page carries the public key, escaped, and the service's address for Waylink.init."""
    html = await page(shop, "/")
    assert '<meta name="waylink-web-key" content="c_web_&#34;quoted&#34;">' in html
    assert '<meta name="waylink-base-url" content="https://links.example/waylink">' in html


async def test_the_recorder_runs_before_the_sdk(shop: Client) -> None:
    """The panel's recorder wraps fetch before the SDK can take hold of it, and init comes after both."""
    scripts = re.findall(r'<script[^>]*src="([^"]+)"', await page(shop, "/"))
    assert scripts[:3] == ["/static/panel/recorder.js", "/sdk/waylink.js", "/static/shop/waylink_setup.js"]


async def test_the_demo_link_is_offered(shop: Client) -> None:
    """Shop and panel both lead to the short link."""
    assert (await page(shop, "/")).count(f'href="{CONFIG.short_url}"') == 2


@pytest.mark.parametrize("kite", KITES, ids=lambda kite: kite.slug)
async def test_a_product_page_tells_price_and_wind(shop: Client, kite: Kite) -> None:
    """A product's page has its name, its price, its drawing and the wind it flies in."""
    html = await page(shop, f"/kites/{kite.slug}")
    assert f"<h1>{kite.name}</h1>" in html
    assert f"€{kite.price}" in html
    assert f'aria-label="{kite.name}, a {kite.shape.lower()} kite"' in html
    assert f"Force {kite.least_wind} to {kite.most_wind}" in html


@pytest.mark.parametrize("path", ["/kites/none", "/nowhere", "/sdk/none.js", "/sdk/../pyproject.toml"])
async def test_an_unknown_address_is_not_found(shop: Client, path: str) -> None:
    """What the shop does not have is a 404 with a page of the shop's own."""
    response = await shop.get(path)
    assert response.status_code == 404
    assert "This one flew off" in await response.get_data(as_text=True)


async def test_the_shop_serves_the_sdk_that_is_shipped(shop: Client) -> None:
    """/sdk/waylink.js is the file of sdk_dist, and its source map lies beside it."""
    built = Path(__file__).parents[2] / "sdk_dist" / "waylink.js"
    response = await shop.get("/sdk/waylink.js")
    assert await response.get_data() == built.read_bytes()
    assert response.mimetype == "text/javascript"
    assert (await shop.get("/sdk/waylink.js.map")).status_code == 200
