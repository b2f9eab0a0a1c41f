"""The form of a funnel in a browser: what its scripts and styles add."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.dashboard.office import Office, make_organization, make_user
from tests.processes.service_process import ServiceProcess


def test_only_what_a_step_has_is_asked_for(page: Page, running: ServiceProcess) -> None:
    """An event's name for an event, a value for a filter, which is suggested from those of its field. Enter
    in a field makes the funnel, and moves no step."""
    office = Office(running.base_url, make_user(running, make_organization(running, "Funnels")), {})
    office.open_session(page)
    page.goto(f"{office.base_url}/funnels/new")
    event, value = page.locator("#event_2"), page.locator("#value_1")
    expect(page.locator("#kind_2")).to_have_value("conversion")
    expect(event).to_be_hidden()
    page.locator("#kind_2").select_option(label="Event")
    expect(event).to_be_visible()
    expect(value).to_be_hidden()
    page.locator("#field_1").select_option(label="Country")
    expect(value).to_be_visible()
    expect(value).to_have_attribute("list", "values-country")
    value.fill("DE")
    page.locator("#field_1").select_option(label="Campaign")
    expect(value).to_have_value("")
    page.locator("#name").fill("First")
    page.locator("#name").press("Enter")
    expect(page.get_by_role("heading", name="First", exact=True)).to_be_visible()
