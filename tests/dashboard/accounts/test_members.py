"""Members: roles, invitations, and links for new passwords."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from html import unescape
from urllib.parse import quote, urlsplit

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.storage.accounts.users import members, new_passwords, users
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.people import PASSWORD, FormsOf, Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization

NEW = "another long password"


@pytest.fixture
async def guest(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A browser in which nobody is signed in."""
    async with browser(service) as client:
        yield client


async def user_of(database: Database, email: str) -> User:
    """The user with this address."""
    user = await users.find_user_by_email(database, email)
    assert user is not None
    return user


def shown_link(answer: httpx.Response) -> str:
    """The path of the link that is shown once."""
    match = re.search(r'<code class="secret">([^<]+)</code>', answer.text)
    assert match, answer.text
    return urlsplit(unescape(match[1])).path


async def invited(person: Person, email: str, role: str = "viewer") -> str:
    """Invite somebody; the path of the invitation's link."""
    answer = await person.send("/members", "/members/invitations", email=email, role=role)
    assert answer.status_code == 200
    return shown_link(answer)


async def test_an_invitation_makes_a_member_once(
    person: Person,
    guest: httpx.AsyncClient,
    service: Service,
    organization: TestOrganization,
    database: Database,
) -> None:
    """The link is looked at as often as one likes, and used once; who used it signs in, with the role."""
    email = f"new-{organization.id}@example.com"
    path = await invited(person, email.upper(), "analyst")
    assert email in (await person.get("/members")).text
    for _ in range(2):
        page = await guest.get(path)
        assert page.status_code == 200
    fields = FormsOf(page.text).fields_of(path)
    weak = await guest.post(path, data=fields | {"password": "short"})
    assert (weak.status_code, "at least 12 characters" in weak.text) == (422, True)
    assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 303
    assert (await Person(guest, email).sign_in(NEW)).status_code == 303
    assert (await guest.get("/tags")).status_code == 200
    assert (await user_of(database, email)).roles == {organization.id: Role.ANALYST}
    async with browser(service) as another:
        assert (await another.get(path)).status_code == 410
        token = FormsOf((await another.get("/sign-in")).text).fields_of("/sign-in")["form_token"]
        assert (await another.post(path, data={"form_token": token, "password": NEW})).status_code == 410
    again = await person.send("/members", "/members/invitations", email=email, role="owner")
    assert (again.status_code, "is a member" in again.text) == (422, True)


async def test_who_has_an_account_joins_with_it(
    person: Person,
    service: Service,
    organization: TestOrganization,
    database: Database,
    make_organization: OrganizationFactory,
) -> None:
    """Not without signing in, and not as somebody else; the other organization and its role stay."""
    other = await make_organization()
    async with browser(service) as client:
        known = Person(client, await make_user(database, other.id, role=Role.VIEWER, proved=True))
        path = await invited(person, known.email, "editor")
        before = await user_of(database, known.email)
        assert f"/sign-in?next={quote(path, safe='')}" in (await known.get(path)).text
        assert (await known.join(path, NEW)).status_code == 422
        assert await user_of(database, known.email) == before
        assert "Sign out, then" in (await person.get(path)).text
        assert (await known.sign_in(next=path)).headers["location"] == path
        assert (await known.send(path, path)).status_code == 303
        user = await user_of(database, known.email)
        assert user.roles == {other.id: Role.VIEWER, organization.id: Role.EDITOR}
        assert (await known.get("/keys")).status_code == 200


async def test_a_withdrawn_replaced_or_old_invitation_is_none(
    person: Person, guest: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """Its link works no more: after it was withdrawn, after another one was made, and after a week."""
    email = f"late-{organization.id}@example.com"
    first = await invited(person, email)
    second = await invited(person, email)
    assert (await guest.get(first)).status_code == 410
    assert (await guest.get(second)).status_code == 200
    page = (await person.get("/members")).text
    match = re.search(r'action="(/members/invitations/[^/]+/withdraw)"', page)
    assert match
    assert (await person.send("/members", match[1])).status_code == 303
    assert (await guest.get(second)).status_code == 410
    third = await invited(person, email)
    clock.offset += timedelta(days=7, seconds=1)
    assert (await guest.get(third)).status_code == 410


async def test_roles_are_changed_and_members_removed(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """A member's role and membership end with the next click; the only owner keeps both."""
    me = await user_of(database, person.email)
    colleague = await user_of(database, await make_user(database, organization.id, role=Role.VIEWER))
    for action, fields in (("role", {"role": "editor"}), ("remove", {})):
        answer = await person.send("/members", f"/members/{me.id}/{action}", **fields)
        assert (answer.status_code, "only owner stays one" in unescape(answer.text)) == (422, True)
    assert (await person.send("/members", f"/members/{colleague.id}/role", role="owner")).status_code == 303
    assert (await user_of(database, colleague.email)).role_in(organization.id) is Role.OWNER
    assert (await person.send("/members", f"/members/{me.id}/role", role="viewer")).status_code == 303
    assert (await person.get("/members")).status_code == 403
    await members.remove_member(database, organization.id, me.id, granted=EVERYTHING)
    assert (await person.get("/")).status_code == 303


async def test_an_owner_hands_over_a_link_for_a_new_password(
    person: Person,
    guest: httpx.AsyncClient,
    service: Service,
    organization: TestOrganization,
    database: Database,
    make_organization: OrganizationFactory,
) -> None:
    """It works once, and signs its user out everywhere. There is none for members of other organizations."""
    async with browser(service) as client:
        member = Person(client, await make_user(database, organization.id, role=Role.EDITOR))
        await open_session(database, member)
        user = await user_of(database, member.email)
        path = shown_link(await person.send("/members", f"/members/{user.id}/new-password"))
        fields = FormsOf((await guest.get(path)).text).fields_of(path)
        assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 303
        assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 410
        assert (await member.get("/")).status_code == 303
        assert (await member.sign_in(PASSWORD)).status_code == 422
        assert (await member.sign_in(NEW)).status_code == 303
    other = await make_organization()
    stranger = await user_of(database, await make_user(database, organization.id, other.id))
    page = await person.get("/members")
    assert f"/members/{stranger.id}/new-password" not in page.text
    token = FormsOf(page.text).fields_of("/members/invitations")
    forced = await person.client.post(f"/members/{stranger.id}/new-password", data=token)
    assert forced.status_code == 403


@pytest.mark.parametrize("change", ["joins", "is no owner", "leaves", "is removed"])
async def test_a_handed_link_works_while_its_owner_may_hand_one(
    person: Person,
    guest: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    make_organization: OrganizationFactory,
    change: str,
) -> None:
    """Not after its user has joined another organization, and not after the owner is none any more: neither a
    form that was open before sets a password, nor does the page show one."""
    me = await user_of(database, person.email)
    await make_user(database, organization.id)
    user = await user_of(database, await make_user(database, organization.id, role=Role.EDITOR))
    path = shown_link(await person.send("/members", f"/members/{user.id}/new-password"))
    fields = FormsOf((await guest.get(path)).text).fields_of(path)
    org_id, other = organization.id, await make_organization()
    if change == "joins":
        await users.set_roles(database, user.id, {org_id: Role.EDITOR, other.id: Role.VIEWER})
    elif change == "is no owner":
        await members.set_role(database, org_id, me.id, Role.EDITOR, granted=EVERYTHING)
    else:
        gone = me if change == "leaves" else user
        await members.remove_member(database, org_id, gone.id, granted=EVERYTHING)
    assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 410
    assert (await guest.get(path)).status_code == 410
    assert (await user_of(database, user.email)).password_hash == user.password_hash


async def test_a_reset_ages_and_takes_others_with_it(
    guest: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A link works for its time only, and a used one ends all others of its user."""
    user = await user_of(database, await make_user(database, organization.id))
    now = utc_now()
    first, second = [await begin_reset(database, user.id, now, LinkWay.MAILED) for _ in range(2)]
    assert (await guest.get(f"/new-password/{first}")).status_code == 200
    assert user.password_hash
    assert await new_passwords.use_reset(database, second, user.password_hash, now)
    assert (await guest.get(f"/new-password/{first}")).status_code == 410
    third = await begin_reset(database, user.id, now, LinkWay.MAILED)
    clock.offset += timedelta(hours=1, seconds=1)
    assert (await guest.get(f"/new-password/{third}")).status_code == 410


async def test_sessions_are_listed_and_ended(person: Person, service: Service) -> None:
    """The settings show where one is signed in; one browser, or all others, are signed out from there."""
    async with browser(service) as first, browser(service) as second:
        first.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
        others = [Person(client, person.email) for client in (first, second)]
        for other in others:
            await other.sign_in()
        page = (await person.get("/settings")).text
        assert "Firefox on Linux" in page
        assert page.count('/settings/sessions/end"') == 2
        ended = await person.send("/settings", "/settings/sessions/end")
        assert ended.status_code == 303
        assert sorted([(await other.get("/tags")).status_code for other in others]) == [200, 303]
        await person.send("/settings", "/settings/sessions/end-others")
        assert [(await other.get("/")).status_code for other in others] == [303, 303]
        assert (await person.get("/tags")).status_code == 200
        forged = FormsOf((await person.get("/settings")).text).fields_of("/settings/password")
        answer = await person.client.post("/settings/sessions/end", data=forged | {"session": "0" * 64})
        assert answer.status_code == 404


async def test_without_a_mail_server_the_page_says_who_helps(guest: httpx.AsyncClient) -> None:
    """Who forgot a password is told of owners and of the command line."""
    page = await guest.get("/forgot-password")
    assert "An owner of your organization" in page.text
