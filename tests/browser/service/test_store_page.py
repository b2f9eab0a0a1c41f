"""The page before the App Store in a real browser: what is copied, and that everybody gets to the store."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.api.apps.phones import AGENTS
from tests.api.link_calls import API
from tests.browser.real_service import RealService

STORE = "https://apps.apple.com/app/id1234567890"
APP = ("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.shop.app", "--app-store-id", "1234567890")
CLIPBOARD = "navigator.clipboard.readText()"


@pytest.fixture(scope="module")
def short_url(service_of_shop: RealService) -> str:
    """A link whose domain asks for the page, with the port of the service."""
    service, org = service_of_shop.service, ("--org", service_of_shop.org_id)
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    service.command("domain", "add", domain, *org)
    service.command("app", "set", domain, *org, *APP, "--clipboard-page")
    key = service.command("key", "create", *org, "--kind", "rest")["key"]
    body = {"domain": domain, "destination_url": "https://shop.example/", "link_name": "Kites"}
    made = httpx.post(
        f"{service_of_shop.base_url}{API}/links",
        json=body | {"ios_behavior": 2},
        headers={"API-KEY": key},
        timeout=60,
    ).json()
    return f"http://{domain}:{urlsplit(service_of_shop.base_url).port}/{made['path']}"


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Page]:
    """The page of an iPhone, which may use the clipboard. The App Store is a page of ours."""
    with browser.new_context(user_agent=AGENTS["ios"]) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield with_store(context.new_page())


def with_store(page: Page) -> Page:
    """The page, for which the App Store is one of ours."""
    page.route(f"{STORE}*", lambda route: route.fulfill(body="the store"))
    return page


def test_the_copied_text_is_redeemed(phone: Page, service_of_shop: RealService, short_url: str) -> None:
    """One tap copies the text and leads to the App Store; the first launch sends it and gets the link."""
    phone.goto(short_url)
    phone.get_by_role("link", name="Copy and get the app").click()
    phone.wait_for_url(STORE)
    phone.goto(short_url)
    text = phone.evaluate(CLIPBOARD)
    key = service_of_shop.service.command(
        "key", "create", "--org", service_of_shop.org_id, "--kind", "mobile"
    )["key"]
    body = {
        "platform": "ios",
        "install_id": str(uuid.uuid4()),
        "is_first_launch": True,
        "clipboard_text": text,
    }
    told = httpx.post(
        f"{service_of_shop.base_url}/serviceCore/app/v1/open",
        json=body,
        headers={"API-KEY": key},
        timeout=60,
    ).json()
    assert (told["match"], told["destination_url"]) == ("clipboard", "https://shop.example/")


FAILURES = [
    "Navigator.prototype, 'clipboard', {value: undefined}",
    "Clipboard.prototype, 'writeText', {value: () => Promise.reject(new Error('no'))}",
    "Clipboard.prototype, 'writeText', {value: () => { throw new Error('no') }}",
    "Clipboard.prototype, 'writeText', {value: () => new Promise(() => {})}",
]


@pytest.mark.parametrize("failure", FAILURES)
def test_everybody_gets_to_the_store_by_one_tap(phone: Page, short_url: str, failure: str) -> None:
    """Also without a clipboard, and where the copy fails or never ends."""
    phone.goto(short_url)
    phone.evaluate(f"Object.defineProperty({failure})")
    phone.get_by_role("link", name="Copy and get the app").click()
    phone.wait_for_url(STORE)


def test_the_tap_leads_to_the_store_without_javascript(browser: Browser, short_url: str) -> None:
    """Where nothing can be copied, the button is a link."""
    with browser.new_context(user_agent=AGENTS["ios"], java_script_enabled=False) as context:
        page = with_store(context.new_page())
        page.goto(short_url)
        page.get_by_role("link", name="Copy and get the app").click()
        page.wait_for_url(STORE)


def test_who_does_not_want_to_copy(phone: Page, short_url: str) -> None:
    """The second way leads to the App Store, and leaves the clipboard as it was."""
    phone.goto(short_url)
    phone.evaluate("navigator.clipboard.writeText('mine')")
    phone.get_by_role("link", name="Get the app without copying").click()
    phone.wait_for_url(STORE)
    phone.goto(short_url)
    assert phone.evaluate(CLIPBOARD) == "mine"
