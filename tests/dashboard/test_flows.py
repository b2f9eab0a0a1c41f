"""What people do at the dashboard, in Chromium against a running service; and the same without scripts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

SITE = "https://shop.example"


@pytest.fixture
def office(running: ServiceProcess) -> Office:
    """An organization with a domain, and a user of it."""
    org = make_organization(running, "Acme")
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    running.command("domain", "add", domain, "--org", org)
    return Office(running.base_url, make_user(running, org), {"domain": domain, "org": org})


@pytest.fixture
def no_scripts(browser: Browser) -> Iterator[Page]:
    """A page that runs no scripts."""
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


def make_link(page: Page, office: Office, path: str) -> str:
    """Make a link by the form, from the list of links on; its short URL."""
    page.get_by_role("link", name="New link").click()
    page.get_by_role("textbox", name="Path").fill(path)
    page.get_by_label("Destination", exact=True).fill("https://shop.example/spring")
    page.get_by_label("Name", exact=True).fill("Spring")
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_text("The link is made. It works now.")).to_be_visible()
    return f"https://{office.ids['domain']}/{path}"


def visit(office: Office, path: str) -> int:
    """The status that a visitor of the short URL gets."""
    return httpx.get(
        f"{office.base_url}/{path}", headers={"Host": office.ids["domain"]}, timeout=60
    ).status_code


def call(web_key: str) -> bytes:
    """A batch with one attribution check."""
    moment = "2026-01-01T00:00:00Z"
    check = {"kind": "attribution", "call_id": str(uuid.uuid4()), "occurred_at": moment, "signals": {}}
    batch = {"api_key": web_key, "device_id": str(uuid.uuid4()), "sdk": "js/test", "sent_at": moment}
    return json.dumps(batch | {"calls": [check | {"page": f"{SITE}/"}]}).encode()


def test_a_link_is_made_copied_and_disabled(browser: Browser, office: Office) -> None:
    """From the sign-in to a link that works, its short URL in the clipboard, and off again."""
    with browser.new_context(permissions=["clipboard-read", "clipboard-write"]) as context:
        page = context.new_page()
        office.sign_in(page)
        short_url = make_link(page, office, "spring")
        assert visit(office, "spring") == 302
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == short_url
        page.get_by_role("button", name="Disable").click()
        expect(page.get_by_text("visitors see an error page")).to_be_visible()
    # A cached link is current again once the service has heard of the change.
    wait_for(lambda: visit(office, "spring"), "the disabled link redirects", lambda status: status == 404)


def test_the_page_tells_when_the_first_call_arrives(
    page: Page, office: Office, running: ServiceProcess
) -> None:
    """Without a reload: first that a call was refused and why, then that one was accepted."""
    org = office.ids["org"]
    web_key = make_key(running, org, "web")
    office.open_session(page)
    page.goto(f"{office.base_url}/install")
    check = page.locator("[data-live]")
    expect(check).to_contain_text("No call has arrived yet")
    page.evaluate("window.sameDocument = true")
    batch = f"{office.base_url}/serviceCore/sdk/v1/batch"
    assert httpx.post(batch, content=call(web_key), headers={"Origin": SITE}, timeout=60).status_code == 403
    expect(check).to_contain_text(f"{SITE} is not an allowed origin", timeout=30_000)
    running.command("origin", "add", SITE, "--org", org)
    # Which origins are allowed is remembered for a moment, except where none was.
    answer = httpx.post(batch, content=call(web_key), headers={"Origin": SITE}, timeout=60)
    assert answer.status_code == 200, answer.text
    expect(check).to_contain_text("Calls arrive.", timeout=30_000)
    assert page.evaluate("window.sameDocument")


def test_everything_works_without_scripts(no_scripts: Page, office: Office) -> None:
    """Signing in, making, changing and disabling a link, a key that is shown, and signing out."""
    page = no_scripts
    office.sign_in(page)
    make_link(page, office, "plain")
    page.get_by_role("link", name="Change", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Summer")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Summer")).to_be_visible()
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()
    page.goto(f"{office.base_url}/keys")
    page.get_by_role("button", name="Make a REST API key").click()
    expect(page.locator(".secret")).to_contain_text("c_api_")
    page.locator(".side-body").get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.goto(f"{office.base_url}/links")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_keyboard_reaches_the_content_first(page: Page, office: Office) -> None:
    """The first stop of the tabulator is the link that skips the navigation; focus can be seen."""
    office.open_session(page)
    page.goto(f"{office.base_url}/links")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="New link")).to_be_focused()


def test_buttons_of_the_forms(page: Page, office: Office) -> None:
    """All links of a page are disabled, pasted rows are made, an origin is refused and then allowed, and a
    webhook is made and tried, each by its buttons."""
    office.sign_in(page)
    make_link(page, office, "buttons")
    page.goto(f"{office.base_url}/links")
    page.get_by_label("All of this page").check()
    page.get_by_role("button", name="Disable", exact=True).click()
    page.get_by_role("button", name="Disable 1 link").click()
    expect(page.get_by_role("heading", name="What became of them")).to_be_visible()
    wait_for(lambda: visit(office, "buttons"), "the disabled link redirects", lambda status: status == 404)
    page.goto(f"{office.base_url}/links/sheet")
    page.locator("#sheet").fill("Destination\tName\tPath\nhttps://shop.example/\tPasted\tpasted")
    page.get_by_role("button", name="Look at the rows").click()
    page.get_by_role("button", name="Make 1 link").click()
    expect(page.get_by_role("heading", name="What became of the rows")).to_be_visible()
    assert visit(office, "pasted") == 302
    page.goto(f"{office.base_url}/origins")
    for origin, shown in (("?", page.locator(".problem")), (SITE, page.get_by_role("rowheader", name=SITE))):
        page.get_by_label("Allow an origin").fill(origin)
        page.get_by_role("button", name="Allow", exact=True).click()
        expect(shown).to_be_visible()
    page.goto(f"{office.base_url}/webhooks/new")
    page.get_by_label("Address").fill("https://127.0.0.1:1/")
    page.get_by_role("button", name="Add the webhook").click()
    expect(page.locator(".secret")).to_be_visible()
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("It was not taken.")).to_be_visible()
