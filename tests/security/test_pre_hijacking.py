"""Accounts that a stranger prepares for somebody else's address, in the five ways that are known.

"Pre-hijacked accounts" (Sudhodanan and Paverd, USENIX Security 2022) names them: the classic-federated merge,
the unexpired session, the trojan identifier, the unexpired change of an address, and the provider that does
not verify. Each test has a stranger who owns an organization, the person whose address it is, and another
organization that lets this person in. test_who_gets_in tries all orders of what they do.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pyotp
import pytest

from backend.app import Service
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import new_provider_session
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.storage.accounts.single_sign_on.admission import admit, open_session
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.accounts.users.invitations import invite, mailed_token
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.people import FormsOf, Person, browser, make_user
from tests.dashboard.people import open_session as sign_in_quickly
from tests.facts.organizations import TestOrganization

STRANGERS, OWN = "the stranger's password", "the person's own password"


@dataclass(frozen=True, slots=True)
class Scene:
    """A stranger's organization, one that lets the person in, and browsers."""

    database: Database
    evil: TestOrganization
    good: TestOrganization
    owner: Person
    stranger: Person
    person: Person

    async def invited(self, organization: TestOrganization, *, by_mail: bool = False) -> str:
        """The path of the link of an invitation, as it is shown to who invites, or as it is mailed."""
        token, invitation = await invite(
            self.database, organization.id, self.person.email, Role.EDITOR,
            invited_by="x", granted=EVERYTHING, now=utc_now(),
        )  # fmt: skip
        return f"/join/{await mailed_token(self.database, invitation) if by_mail else token}"

    async def squat(self) -> None:
        """The stranger makes the account of the person's address, by a link that was shown to them."""
        path = await self.invited(self.evil)
        assert (await self.stranger.join(path, STRANGERS)).status_code == 303

    async def come_by_provider(self, organization: TestOrganization, person: Person) -> None:
        """Sign in by the organization's provider, which says that it is the person's address."""
        provider = IdentityProvider(f"https://{organization.id}.example", "client", "secret")
        await set_provider(self.database, organization.id, provider)
        await set_group_roles(self.database, organization.id, GroupRoles((), Role.EDITOR))
        named = ProvidedPerson(provider.issuer, person.email, person.email, is_email_verified=True)
        user = await admit(self.database, organization.id, provider, named, utc_now())
        token = secrets.token_urlsafe(32)
        session = new_provider_session(token, user.id, organization.id, utc_now())
        await open_session(self.database, organization.id, provider, session)
        person.client.cookies.set("waylink", token, domain="localhost.local")

    async def new_password_by_mail(self) -> httpx.Response:
        """The person asks for a new password, reads the mail, and sets one."""
        account = await find_user_by_email(self.database, self.person.email)
        assert account
        path = f"/new-password/{await begin_reset(self.database, account.id, utc_now(), LinkWay.MAILED)}"
        return await self.person.send(path, path, password=OWN)


@pytest.fixture
async def scene(
    service: Service, database: Database, make_organization: OrganizationFactory
) -> AsyncIterator[Scene]:
    """Two organizations, three browsers."""
    evil, good = await make_organization(), await make_organization()
    async with AsyncExitStack() as opened:
        owner, stranger, person = [
            Person(await opened.enter_async_context(browser(service)), f"{secrets.token_hex(8)}@corp.example")
            for _ in range(3)
        ]
        stranger.email = person.email
        await make_user(database, good.id)
        await make_user(database, evil.id, email=owner.email)
        await sign_in_quickly(database, owner)
        yield Scene(database, evil, good, owner, stranger, person)


async def opened(person: Person, organization: TestOrganization) -> bool:
    """Whether the browser acts in the organization, which it asks for."""
    page = await person.get("/settings")
    if page.status_code != 200:
        return False
    form = FormsOf(page.text).fields_of("/sign-out") | {"org_id": organization.id}
    return (await person.client.post("/organization", data=form)).status_code == 303


async def test_classic_federated_merge(scene: Scene) -> None:
    """A password that a stranger set opens nothing of an organization that the person enters by its provider,
    also where that organization had invited them."""
    await scene.squat()
    await scene.invited(scene.good)
    await scene.come_by_provider(scene.good, scene.person)
    assert await opened(scene.person, scene.good)
    assert not await opened(scene.stranger, scene.good)
    scene.stranger.client.cookies.clear()
    assert (await scene.stranger.sign_in(STRANGERS)).status_code == 303
    assert await opened(scene.stranger, scene.evil)
    assert not await opened(scene.stranger, scene.good)


async def test_unexpired_session(scene: Scene) -> None:
    """A session that a stranger keeps open ends when the person shows that the address is theirs."""
    await scene.squat()
    path = await scene.invited(scene.good, by_mail=True)
    assert (await scene.person.join(path, OWN)).status_code == 303
    assert await opened(scene.person, scene.good)
    assert (await scene.stranger.get("/tags")).headers["location"].startswith("/sign-in")
    assert (await scene.stranger.sign_in(STRANGERS)).status_code == 422


async def test_unexpired_session_of_an_account_that_was_handed_over(scene: Scene) -> None:
    """Without mails, who was told a password by a stranger joins another organization with a new one."""
    await scene.squat()
    assert (await scene.person.sign_in(STRANGERS)).status_code == 303
    path = await scene.invited(scene.good)
    weak = await scene.person.send(path, path)
    assert (weak.status_code, "Choose a new one" in weak.text) == (422, True)
    assert not await opened(scene.person, scene.good)
    assert (await scene.person.join(path, OWN)).status_code == 303
    assert await opened(scene.person, scene.good)
    assert (await scene.stranger.get("/tags")).headers["location"].startswith("/sign-in")
    assert (await scene.stranger.sign_in(STRANGERS)).status_code == 422


async def test_trojan_identifier(scene: Scene) -> None:
    """A second factor, and what hangs on it, ends with the first new password that comes by mail; the one
    that the person sets up then stays with the second."""
    await scene.squat()
    await set_up_second_factor(scene.stranger, STRANGERS)
    assert (await scene.new_password_by_mail()).status_code == 303
    assert (await scene.person.sign_in(OWN)).headers["location"] == "/"
    await set_up_second_factor(scene.person, OWN)
    assert (await scene.new_password_by_mail()).status_code == 303
    assert (await scene.person.sign_in(OWN)).headers["location"].startswith("/sign-in/code")


async def set_up_second_factor(person: Person, password: str) -> None:
    """Set it up on the page."""
    page = "/settings/second-factor"
    fields = FormsOf((await person.get(page)).text).fields_of(page)
    code = pyotp.TOTP(fields["secret"]).now()
    shown = await person.client.post(page, data=fields | {"code": code, "password": password})
    assert "Keep these codes" in shown.text


async def test_unexpired_link_in_the_place_of_an_address(scene: Scene) -> None:
    """No account changes its address. A link for a new password, which a stranger had handed to themselves,
    works no more once the person has joined another organization."""
    await scene.squat()
    account = await find_user_by_email(scene.database, scene.person.email)
    assert account
    shown = await scene.owner.send("/members", f"/members/{account.id}/new-password")
    match = re.search(r'<code class="secret">([^<]+)</code>', shown.text)
    assert match
    handed = urlsplit(match[1]).path
    assert (await scene.stranger.get(handed)).status_code == 200
    scene.stranger.client.cookies.clear()
    path = await scene.invited(scene.good, by_mail=True)
    assert (await scene.person.join(path, OWN)).status_code == 303
    assert (await scene.stranger.get(handed)).status_code == 410


async def test_provider_that_does_not_verify(scene: Scene) -> None:
    """A provider that says what it likes about an address makes an account of its own organization. It is no
    other one, whichever comes first, and no mail or link sets a password for it."""
    await scene.come_by_provider(scene.evil, scene.stranger)
    assert await find_user_by_email(scene.database, scene.person.email) is None
    path = await scene.invited(scene.good)
    assert (await scene.person.join(path, OWN)).status_code == 303
    await scene.come_by_provider(scene.evil, scene.stranger)
    assert await opened(scene.person, scene.good)
    assert await opened(scene.stranger, scene.evil)
    assert not await opened(scene.stranger, scene.good)


async def test_an_account_of_no_organization_is_nobodys(scene: Scene) -> None:
    """Whoever is invited makes a new one: what somebody had set up before, and whose it was, is gone."""
    await scene.squat()
    before = await find_user_by_email(scene.database, scene.person.email)
    assert before
    assert (await scene.owner.send("/members", f"/members/{before.id}/remove")).status_code == 303
    path = await scene.invited(scene.good)
    assert (await scene.person.join(path, OWN)).status_code == 303
    account = await find_user_by_email(scene.database, scene.person.email)
    assert account
    assert account.id != before.id
    assert await opened(scene.person, scene.good)
    assert (await scene.stranger.get("/tags")).headers["location"].startswith("/sign-in")
    assert (await scene.stranger.sign_in(STRANGERS)).status_code == 422
