"""The picture beside the form, in Chromium."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.dashboard.office import Office, make_organization, make_user
from tests.processes.service_process import ServiceProcess


def test_the_picture_follows_the_form(page: Page, running: ServiceProcess) -> None:
    """While somebody types, without a click, and without leaving the field; the policy stops nothing."""
    org = make_organization(running, "Picture")
    running.command("domain", "add", "go.picture.localhost", "--org", org)
    office = Office(running.base_url, make_user(running, org), {})
    office.open_session(page)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{office.base_url}/domains/go.picture.localhost/look")
    picture = page.frame_locator("iframe[name=picture]")
    expect(picture.get_by_role("heading", name="This link does not work")).to_be_visible()
    page.get_by_label("Name", exact=False).first.fill("Kites & Co")
    expect(picture.get_by_text("Kites & Co")).to_be_visible()
    page.get_by_label("Background").fill("#10233f")
    expect(picture.locator("body")).to_have_css("background-color", "rgb(16, 35, 63)")
    expect(picture.locator("h1")).to_have_css("color", "rgb(255, 255, 255)")
    expect(page.get_by_label("Background")).to_be_focused()
    page.get_by_label("Page", exact=True).select_option("password")
    page.get_by_label("Language", exact=True).select_option("de")
    expect(picture.get_by_role("heading", name="Dieser Link ist durch ein Passwort")).to_be_visible()
    assert errors == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("It is saved.")).to_be_visible()
    page.get_by_role("link", name="go.picture.localhost").click()
    page.get_by_role("link", name="Orphan visits").click()
    expect(page.get_by_role("heading", name="Nobody asked in vain")).to_be_visible()
    expect(page).to_have_url(re.compile("/domains/go.picture.localhost/orphans$"))
