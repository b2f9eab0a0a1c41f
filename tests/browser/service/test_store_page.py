"""The page before the App Store in a real browser: what is copied, and that everybody gets to the store."""

from __future__ import annotations

import uuid
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


def tap(browser: Browser, short_url: str, *, runs_scripts: bool = True) -> Page:
    """The page that an iPhone gets; the App Store is a page of ours."""
    page = browser.new_context(user_agent=AGENTS["ios"], java_script_enabled=runs_scripts).new_page()
    page.route(f"{STORE}*", lambda route: route.fulfill(body="the store"))
    page.goto(short_url)
    return page


def test_the_copied_text_is_redeemed(browser: Browser, service_of_shop: RealService, short_url: str) -> None:
    """One tap copies the text and leads to the App Store; the first launch sends it and gets the link."""
    page = tap(browser, short_url)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Copy and get the app").click()
    page.wait_for_url(STORE)
    page.goto(short_url)
    text = page.evaluate(CLIPBOARD)
    page.context.close()
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


@pytest.mark.parametrize(
    "failure",
    [
        "Navigator.prototype, 'clipboard', {value: undefined}",
        "Clipboard.prototype, 'writeText', {value: () => Promise.reject(new Error('no'))}",
        "Clipboard.prototype, 'writeText', {value: () => { throw new Error('no') }}",
        "Clipboard.prototype, 'writeText', {value: () => new Promise(() => {})}",
        None,
    ],
)
def test_everybody_gets_to_the_store_by_one_tap(
    browser: Browser, short_url: str, failure: str | None
) -> None:
    """Also without a clipboard, where the copy fails or never ends, and without JavaScript."""
    page = tap(browser, short_url, runs_scripts=failure is not None)
    if failure:
        page.evaluate(f"Object.defineProperty({failure})")
    page.get_by_role("link", name="Copy and get the app").click()
    page.wait_for_url(STORE)
    page.context.close()


def test_who_does_not_want_to_copy(browser: Browser, short_url: str) -> None:
    """The second way leads to the App Store, and leaves the clipboard as it was."""
    page = tap(browser, short_url)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('mine')")
    page.get_by_role("link", name="Get the app without copying").click()
    page.wait_for_url(STORE)
    page.goto(short_url)
    assert page.evaluate(CLIPBOARD) == "mine"
    page.context.close()
