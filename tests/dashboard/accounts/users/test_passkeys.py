"""Passkeys, in Chromium with an authenticator of its own: added, signed in with, and refused."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pyotp
import pytest
from playwright.sync_api import Page, Request, expect

from tests.dashboard.office import Office, make_organization, make_user
from tests.dashboard.people import PASSWORD, FormsOf
from tests.processes.service_process import ServiceProcess

PAGE = "/settings/second-factor"
# One that is built into a phone or computer, and knows its owner.
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def office(running: ServiceProcess) -> Office:
    """A user who has set a second factor up."""
    office = Office(running.base_url, make_user(running, make_organization(running, "Acme")), {})
    with office.client() as client:
        fields = FormsOf(client.get(PAGE).text).fields_of(PAGE)
        code = pyotp.TOTP(fields["secret"]).now()
        shown = client.post(PAGE, data=fields | {"code": code, "password": PASSWORD})
        assert "Keep these codes" in shown.text
        office.ids["session"] = client.cookies["waylink"]
    return office


@pytest.fixture
def holder(page: Page, office: Office) -> Page:
    """A browser on a device with passkeys, in which the user is signed in."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.context.add_cookies([{"name": "waylink", "value": office.ids["session"], "url": office.base_url}])
    return page


def add(page: Page, office: Office, name: str, password: str = PASSWORD) -> None:
    """Add a passkey of this name."""
    page.goto(f"{office.base_url}{PAGE}")
    page.get_by_label("Name", exact=True).fill(name)
    page.locator("#passkey_password").fill(password)
    page.get_by_role("button", name="Add a passkey").click()


def use(page: Page, office: Office) -> Request:
    """Sign in with the passkey of a browser in which nobody is signed in; the form that was sent."""
    page.context.clear_cookies()
    page.goto(f"{office.base_url}/sign-in?next=/tags")
    with page.expect_request("**/sign-in/passkey") as sent:
        page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_load_state()
    return sent.value


def is_refused(page: Page, office: Office, fields: dict[str, str]) -> bool:
    """Whether this form opens nothing, and the page says so."""
    form: dict[str, str | float | bool] = {**fields}
    answer = page.request.post(f"{office.base_url}/sign-in/passkey", form=form)
    return answer.status == 422 and "That passkey does not sign in here." in answer.text()


def test_a_passkey_signs_in_once_for_each_challenge(holder: Page, office: Office) -> None:
    """Without password and code; what was sent opens nothing again, in this browser and in another one."""
    add(holder, office, "My phone", password="wrong")
    expect(holder.get_by_text("Your password is not right.")).to_be_visible()
    add(holder, office, "My phone")
    expect(holder.get_by_text("The passkey is added.")).to_be_visible()
    expect(holder.get_by_text("not used yet")).to_be_visible()
    form = use(holder, office).post_data
    assert form
    expect(holder).to_have_url(f"{office.base_url}/tags")
    holder.goto(f"{office.base_url}{PAGE}")
    expect(holder.get_by_text("used last")).to_be_visible()
    holder.context.clear_cookies()
    holder.goto(f"{office.base_url}/sign-in")
    fields = FormsOf(holder.content()).fields_of("/sign-in/passkey")
    again = {name: values[0] for name, values in parse_qs(form).items()} | {
        "form_token": fields["form_token"]
    }
    assert is_refused(holder, office, again)


def test_a_passkey_that_was_removed_does_not_sign_in(holder: Page, office: Office) -> None:
    """The page says that it was not taken, and the password still is asked for."""
    add(holder, office, "Old laptop")
    holder.get_by_role("button", name="Remove Old laptop").click()
    expect(holder.get_by_text("The passkey is removed")).to_be_visible()
    use(holder, office)
    expect(holder.get_by_role("alert")).to_contain_text("That passkey does not sign in here.")
    holder.goto(f"{office.base_url}/")
    expect(holder.get_by_role("heading", name="Sign in")).to_be_visible()


def test_what_is_no_passkey_is_refused(holder: Page, office: Office) -> None:
    """Whatever text stands in the credential's place, the answer is a page, and opens nothing."""
    holder.context.clear_cookies()
    holder.goto(f"{office.base_url}/sign-in")
    fields = FormsOf(holder.content()).fields_of("/sign-in/passkey")
    of_nobody = {"id": "AA", "response": {"userHandle": "AA", "clientDataJSON": "e30"}}
    texts = ["", "{", "null", "[]", "5", '"x"', "{}", '{"response": 5}', "[" * 5_000, json.dumps(of_nobody)]
    for text in texts:
        assert is_refused(holder, office, fields | {"credential": text}), text
