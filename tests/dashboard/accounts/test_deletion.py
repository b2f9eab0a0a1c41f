"""The page on which an owner asks for the deletion of the organization, and takes it back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from html import unescape

import pyotp
import pytest

from backend.app import Service
from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SecondFactor
from backend.storage.accounts.announced_deletions import find_announced
from backend.storage.accounts.users import sessions
from backend.storage.accounts.users.authenticator_codes import new_secret
from backend.storage.accounts.users.second_factors import set_second_factor
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.organization_deletion import begin_due_deletions
from tests.conftest import MovableClock
from tests.dashboard.people import PASSWORD, Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization

PAGE = "/settings/deletion"
TAKE_BACK = f"{PAGE}/take-back"


@pytest.fixture
async def viewer(
    service: Service, database: Database, organization: TestOrganization
) -> AsyncIterator[Person]:
    """A member who only looks."""
    async with browser(service) as client:
        person = Person(client, await make_user(database, organization.id, role=Role.VIEWER))
        await open_session(database, person)
        yield person


@pytest.fixture
async def second_owner(
    service: Service, database: Database, organization: TestOrganization
) -> AsyncIterator[Person]:
    """Another owner."""
    async with browser(service) as client:
        person = Person(client, await make_user(database, organization.id))
        await open_session(database, person)
        yield person


async def shown(person: Person, path: str = PAGE) -> str:
    """The text of a page."""
    text = re.sub(r"<[^>]+>", " ", (await person.get(path)).text)
    return " ".join(unescape(text).split())


@pytest.mark.usefixtures("link")
async def test_what_will_be_gone(person: Person, organization: TestOrganization) -> None:
    """The page counts it, and says that there is no archive to bring it back from."""
    page = await shown(person)
    assert "Links 1; whoever opens one" in page
    assert "Clicks 0" in page
    assert "Members 1; those who are in no other organization lose their account" in page
    assert f"Domains {organization.domain}; afterwards" in page
    assert "Without one, nothing can be brought back." in page


async def test_it_is_asked_for_twice(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """With the organization's name and the password; neither alone announces anything."""
    for typed in ({"typed_name": "Acm", "password": PASSWORD}, {"typed_name": "Acme", "password": "wrong"}):
        refused = await person.send(PAGE, PAGE, **typed)
        assert refused.status_code == 422
        assert await find_announced(database, organization.id) is None
    assert "Your password is not right." in refused.text
    assert (await person.send(PAGE, PAGE, typed_name="Acme", password=PASSWORD)).status_code == 303
    announced = await find_announced(database, organization.id)
    assert announced
    assert announced.asked_by == person.email


async def test_everybody_sees_it_and_any_owner_takes_it_back(
    person: Person, viewer: Person, second_owner: Person, database: Database, organization: TestOrganization
) -> None:
    """Every page says when, and owners have a button on it."""
    await person.send(PAGE, PAGE, typed_name="Acme", password=PASSWORD)
    announced = await find_announced(database, organization.id)
    assert announced
    sentence = f"Acme will be deleted with all its links and figures, from {announced.at:%-d %b %Y, %H:%M}"
    for path in ("/tags", "/templates"):
        assert sentence in await shown(viewer, path)
    assert TAKE_BACK not in (await viewer.get("/tags")).text
    assert "Any owner can take it back until then." in await shown(viewer, "/tags")
    assert (await second_owner.send("/tags", TAKE_BACK)).status_code == 303
    assert await find_announced(database, organization.id) is None
    assert "will be deleted" not in await shown(viewer, "/tags")
    # A second click on a page that is still open says so.
    late = await person.client.post(TAKE_BACK, data=await person.token())
    assert "deletion-not-announced" in late.headers["Location"]


async def test_after_a_day_it_is_gone(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """The service's own task deletes it; whoever was only in this organization has no account any more."""
    await person.send(PAGE, PAGE, typed_name="Acme", password=PASSWORD)
    clock.offset = timedelta(hours=24)
    await begin_due_deletions(database, clock())
    assert (await person.get("/tags")).headers["Location"].startswith("/sign-in")
    assert await find_user_by_email(database, person.email) is None
    assert await database["organizations"].find_one({"_id": organization.id}) is None


async def test_a_second_factor_is_asked_for_in_the_place_of_the_password(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """A password may be filled in by the browser that stands open; a code is on the owner's phone."""
    user = await find_user_by_email(database, person.email)
    assert user
    secret = new_secret()
    await set_second_factor(database, user, SecondFactor(secret, 0, (), clock()))
    refused = await person.send(PAGE, PAGE, typed_name="Acme", password=PASSWORD, code="000000")
    assert (refused.status_code, "Code is not the code of this moment" in refused.text) == (422, True)
    assert 'name="password"' not in refused.text
    code = pyotp.TOTP(secret).at(clock())
    assert (await person.send(PAGE, PAGE, typed_name="Acme", code=code)).status_code == 303
    assert await find_announced(database, organization.id)


async def test_who_has_no_password_signs_in_again(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """Whoever came by an identity provider has nothing to type: a sign-in of this moment stands for it."""
    await database["users"].update_one({"email": person.email}, {"$set": {"password_hash": ""}})
    clock.offset = timedelta(minutes=11)
    refused = await person.send(PAGE, PAGE, typed_name="Acme")
    assert (refused.status_code, "sign out and in again" in refused.text) == (422, True)
    clock.offset = timedelta(minutes=9)
    assert (await person.send(PAGE, PAGE, typed_name="Acme")).status_code == 303
    assert await find_announced(database, organization.id)


async def test_a_session_through_a_provider_tries_no_password_of_the_account(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """It has to be fresh instead: a right password in an old one announces nothing."""
    user = await find_user_by_email(database, person.email)
    assert user
    await set_second_factor(database, user, SecondFactor(new_secret(), 0, (), clock()))
    through = {"$set": {"provider_org_id": organization.id, "created_at": clock()}}
    await database[sessions.NAME].update_one({"user_id": user.id}, through)
    page = (await person.get(PAGE)).text
    assert 'name="password"' not in page
    assert 'name="code"' not in page
    clock.offset = timedelta(minutes=11)
    late = await person.send(PAGE, PAGE, typed_name="Acme", password=PASSWORD, code="000000")
    assert (late.status_code, "sign out and in again" in late.text) == (422, True)
    assert await find_announced(database, organization.id) is None
    clock.offset = timedelta(minutes=9)
    assert (await person.send(PAGE, PAGE, typed_name="Acme")).status_code == 303
