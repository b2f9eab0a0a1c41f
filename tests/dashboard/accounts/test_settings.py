"""The user's password, and how long visitor data is kept."""

from __future__ import annotations

from html import unescape
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.dashboard.accounts import settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.users.new_passwords import change_password, set_password
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from tests.dashboard.people import PASSWORD, Person, browser
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check

NEW = "another long password"


async def test_a_password_is_changed(person: Person, service: Service) -> None:
    """The new one opens the dashboard, the old one does not; the other sessions end, this one goes on."""
    async with browser(service) as client:
        elsewhere = Person(client, person.email)
        await elsewhere.sign_in()
        before = person.client.cookies["waylink"]
        answer = await person.send("/settings", "/settings/password", current=PASSWORD, new=NEW)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/settings?notice=password-changed")
        assert person.client.cookies["waylink"] != before
        assert (await person.get("/tags")).status_code == 200
        assert (await elsewhere.get("/")).status_code == 303
        assert (await elsewhere.sign_in(PASSWORD)).status_code == 422
        assert (await elsewhere.sign_in(NEW)).status_code == 303


async def test_two_change_a_password_at_once(
    person: Person, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was first is asked to sign in again, with the password that came after theirs."""
    user = await find_user_by_email(database, person.email)
    assert user

    async def replace_twice(*stored: Any) -> None:
        await change_password(*stored)
        await set_password(database, user.id, await hash_password("the one that came later", "a"))

    monkeypatch.setattr(settings, "change_password", replace_twice)
    answer = await person.send("/settings", "/settings/password", current=PASSWORD, new=NEW)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?notice=sign-in-again")
    assert (await person.get("/settings")).status_code == 303


async def test_a_password_that_is_not_changed(person: Person) -> None:
    """The form says what is wrong, and the old password still holds."""
    page = await person.get("/settings")
    for current, new, sentence in (
        ("wrong", NEW, "Current password is not right."),
        ("", NEW, "Current password is not right."),
        (PASSWORD, "short", "New password must have at least 12 characters."),
        (PASSWORD, "x" * 1025, "New password must have at most 1024 characters."),
    ):
        answer = await person.submit(page, "/settings/password", current=current, new=new)
        assert answer.status_code == 422, sentence
        assert sentence in unescape(answer.text)
    await person.submit(page, "/sign-out")
    assert (await person.sign_in(PASSWORD)).status_code == 303


async def test_tries_of_the_current_password_are_limited(person: Person) -> None:
    """Who found a browser that is signed in can't guess the password there."""
    page = await person.get("/settings")
    tries = [await person.submit(page, "/settings/password", current="guess", new=NEW) for _ in range(11)]
    assert "is not right" in tries[9].text
    assert "was tried too often" in tries[10].text


async def test_retention_is_set(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """What was stored before gets its date as well; an empty field takes the limit away."""
    await Visitor(client, organization).result(check())
    await person.send("/settings", "/settings/retention", retention_days="30")
    assert (await get_organization(database, organization.id)).retention_days == 30
    device = await database["devices"].find_one({"org_id": organization.id})
    assert device is not None
    assert (device["expires_at"] - device["last_seen_at"]).days == 30
    assert 'value="30"' in (await person.get("/settings")).text
    await person.send("/settings", "/settings/retention", retention_days="")
    assert (await get_organization(database, organization.id)).retention_days is None


async def test_click_ids_are_switched(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Off and on again; the page shows which."""
    for value, is_on in (("", False), ("on", True)):
        await person.send("/settings", "/settings/click-ids", click_ids=value)
        assert (await get_organization(database, organization.id)).click_ids is is_on
        text = (await person.get("/settings")).text
        assert ('name="click_ids" value="on" checked' in text) is is_on


async def test_what_is_no_number_of_days(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """It is refused with its rule, and nothing is deleted."""
    page = await person.get("/settings")
    for text in ("0", "-1", "1.5", "x", "36501", "²", "9" * 20):
        answer = await person.submit(page, "/settings/retention", retention_days=text)
        assert answer.status_code == 422, text
        assert "must be a whole number from 1 to 36,500, or empty." in answer.text
        assert (await get_organization(database, organization.id)).retention_days is None
