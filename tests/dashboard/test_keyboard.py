"""Keys that work on every page, in Chromium: "/" searches, "n" makes a link, "?" shows the keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.office import Office, make_organization, make_user
from tests.processes.service_process import ServiceProcess


@pytest.fixture
def office(running: ServiceProcess) -> Office:
    """An organization with nothing, and a user of it."""
    return Office(running.base_url, make_user(running, make_organization(running, "Keys")), {})


def test_keys(page: Page, office: Office) -> None:
    """Each does what the list says, none while somebody types or with Ctrl, and none once switched off."""
    office.open_session(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{office.base_url}/keys")
    dialog = page.get_by_role("dialog", name="Keys of the keyboard")
    search = page.locator(".side-body [data-search]")
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("n/?")
    expect(search).to_have_value("n/?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.keyboard.press("Control+n")
    page.keyboard.press("n")
    page.wait_for_url("**/links/new")
    page.set_viewport_size({"width": 390, "height": 800})
    page.keyboard.press("/")
    expect(page.locator(".menu [data-search]")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    dialog.get_by_label("Use these keys in this browser").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("/")
    page.reload()
    page.keyboard.press("/")
    expect(page.locator(".menu [data-search]")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Keyboard").click()
    expect(dialog).to_be_visible()
