"""Single sign-on in a real browser, from its set-up to an owner who is not locked out."""

from __future__ import annotations

import asyncio
import uuid
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Browser, Page, expect

from tests.dashboard.office import Office, make_organization, make_user
from tests.processes.identity_provider.provider_process import Provider
from tests.processes.service_process import ServiceProcess


def at_provider(page: Page, login: str) -> None:
    """Type the login and any password."""
    page.get_by_placeholder("Enter any login").fill(login)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()


def test_from_the_set_up_to_the_requirement(
    browser: Browser, running: ServiceProcess, providers: list[Provider]
) -> None:
    """An owner sets it up and requires it, a colleague comes through it, and a command takes it back."""
    org, provider, login = make_organization(running, "Kite shop"), providers[0], uuid.uuid4().hex
    office = Office(running.base_url, make_user(running, org), {})
    known = {"email": office.email, "email_verified": True, "groups": ["IT"]}
    with browser.new_context() as context:
        page = context.new_page()
        office.open_session(page)
        page.goto(f"{office.base_url}/single-sign-on")
        back_to = page.locator("code.secret").inner_text()
        client_id, secret = _in_a_loop(provider, back_to, login, known)
        page.get_by_label("Issuer").fill(provider.issuer)
        page.get_by_label("Client id").fill(client_id)
        page.get_by_label("Client secret").fill(secret)
        page.get_by_role("button", name="Save and try").click()
        expect(page.get_by_text("The provider answers, and is saved.")).to_be_visible()
        page.locator("#group-0").fill("IT")
        page.get_by_label("Role of group 1").select_option("owner")
        page.get_by_role("button", name="Set roles").click()
        page.get_by_role("link", name="/sign-in/single/").click()
        at_provider(page, login)
        page.wait_for_url(f"{office.base_url}/")
        page.goto(f"{office.base_url}/single-sign-on")
        page.get_by_label("Members have to come through the provider").check()
        page.get_by_role("button", name="Set who has to use it").click()
        expect(page.get_by_text("It is required, from the next page")).to_be_visible()
        page.locator(".side-body").get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign out there, too")).to_be_visible()
        page.goto(f"{office.base_url}/sign-in")
        expect(page.get_by_role("link", name="Sign in by single sign-on")).to_be_visible()
        office.open_session(page)
        page.goto(f"{office.base_url}/links")
        expect(page.get_by_role("heading", name="Enter Kite shop")).to_be_visible()
        running.command("organization", "single-sign-on-optional", "--org", org)
        page.goto(f"{office.base_url}/links")
        expect(page.get_by_role("heading", name="Links", exact=True)).to_be_visible()


def _in_a_loop(provider: Provider, back_to: str, login: str, known: dict[str, object]) -> tuple[str, str]:
    """Register a client and a person at the provider, beside the loop of the browser."""

    async def prepared() -> tuple[str, str]:
        await provider.has(login, **known)
        return await provider.register(back_to)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(prepared())).result()
