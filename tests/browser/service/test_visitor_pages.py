"""The pages of the redirector in a real browser, on a desktop and a phone, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.api.link_calls import API
from tests.browser.real_service import RealService
from tests.browser.recording_server import RecordingServer
from tests.redirector.sample_pages import sample_pages

DOMAIN = "go.password.localhost"
SIZES = [(1280, 800), (390, 844), (320, 568)]
# The grounds of who prefers light and dark.
SCHEMES: dict[Literal["light", "dark"], str] = {"light": "rgb(246, 245, 242)", "dark": "rgb(23, 25, 29)"}
# WCAG's contrast of two colours, for every text of the page against the page's ground.
LEAST_CONTRAST = """() => {
  const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => {
    const [red, green, blue] = rgb.match(/[0-9.]+/g).map((value) => linear(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === 'rgba(0, 0, 0, 0)' ? ground(node.parentElement) : colour;
  };
  return Math.min(...[...document.querySelectorAll('h1, p, a, label, button')].map((node) => {
    const [low, high] = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }));
}"""


@pytest.fixture(scope="module")
def sample_page(browser: Browser) -> Iterator[Page]:
    """A page that shows one sample after the other."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.mark.parametrize("name", list(sample_pages()))
def test_a_page_fits_and_can_be_read(sample_page: Page, name: str) -> None:
    """Nothing is wider than the window, however long its words; all text has a contrast of 4.5 or more, light
    and dark."""
    sample_page.set_content(sample_pages()[name].body.decode())
    for width, height in SIZES:
        sample_page.set_viewport_size({"width": width, "height": height})
        assert sample_page.evaluate("document.documentElement.scrollWidth") <= width
    for scheme in SCHEMES:
        sample_page.emulate_media(color_scheme=scheme)
        assert sample_page.evaluate(LEAST_CONTRAST) >= 4.5, scheme


def test_a_page_follows_the_visitor_s_colours(sample_page: Page) -> None:
    """Dark ground for who prefers dark, light for who prefers light."""
    sample_page.set_content(sample_pages()["error"].body.decode())
    for scheme, ground in SCHEMES.items():
        sample_page.emulate_media(color_scheme=scheme)
        assert sample_page.evaluate("getComputedStyle(document.body).backgroundColor") == ground


@pytest.fixture(scope="module")
def rest_key(service_of_shop: RealService) -> str:
    """A key that may make links on DOMAIN."""
    org = ["--org", service_of_shop.org_id]
    service_of_shop.service.command("domain", "add", DOMAIN, *org)
    return str(service_of_shop.service.command("key", "create", *org, "--kind", "rest")["key"])


def make_short_url(service: RealService, key: str, destination: str, **limits: object) -> str:
    """A link with these limits, with the port of the service."""
    body = {"domain": DOMAIN, "destination_url": destination, "link_name": "Kites", **limits}
    made = httpx.post(
        f"{service.base_url}{API}/links", json=body, headers={"API-KEY": key}, timeout=60
    ).json()
    return f"http://{DOMAIN}:{urlsplit(service.base_url).port}/{made['path']}"


@pytest.mark.parametrize("limits", [{"click_to_continue": True}, {"password": "kites"}])
def test_a_double_tap_takes_one_click(
    browser: Browser,
    service_of_shop: RealService,
    server: RecordingServer,
    rest_key: str,
    limits: dict[str, object],
) -> None:
    """Both taps would send the form, and the answer to the second one would be that the link is used up."""
    short_url = make_short_url(service_of_shop, rest_key, server.url(), max_clicks=1, **limits)
    with browser.new_context() as context:
        page = context.new_page()
        sent = []
        page.on("request", lambda request: sent.append(request.method))
        page.goto(short_url)
        if "password" in limits:
            page.get_by_label("Password").fill("kites")
        page.locator(".button").dblclick(delay=20)
        page.wait_for_url(f"{server.url()}*")
        assert sent.count("POST") == 1


def test_a_password_is_given_without_scripts(
    browser: Browser, service_of_shop: RealService, server: RecordingServer, rest_key: str
) -> None:
    """With the keyboard alone and no JavaScript: a wrong password is told, the right one leads on to another
    site, and the visit goes on without asking again."""
    short_url = make_short_url(service_of_shop, rest_key, server.url(), password="kites")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(short_url)
    for password in ("ropes", "kites"):
        page.get_by_label("Password").focus()
        page.keyboard.type(password)
        page.keyboard.press("Enter")
        if password == "ropes":
            page.get_by_role("alert").get_by_text("That password is not right.").wait_for()
    page.wait_for_url(f"{server.url()}*")
    page.goto(short_url)
    page.wait_for_url(f"{server.url()}*")
    context.close()
