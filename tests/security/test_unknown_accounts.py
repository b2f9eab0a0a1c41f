"""Who neither reads the mails of an address nor is signed in with it learns of no account that it has."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher

from backend.app import Service
from backend.dashboard.frame.once import ONCE
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.storage.accounts.users import users
from backend.storage.accounts.users.invitations import find_invitation, invite, mailed_token
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.people import FormsOf, Person, browser, make_user, open_session

NEW = "a password that nobody had"
# What differs from one invitation, and from one page, to the next, whoever is invited.
OF_ONE_INVITATION = re.compile(
    rb"(?<=/join/)[\w-]{43}|(?<=%2Fjoin%2F)[\w-]{43}|(?<=/invitations/)[0-9a-f-]{36}|"
    + f'(?<="{ONCE}" value=")[^"]*'.encode()
)


@dataclass(frozen=True, slots=True)
class Answer:
    """All that a browser gets, but for the tokens of one invitation and the request's own id; and how many
    hashes that took."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    hashes: int


@dataclass(frozen=True, slots=True)
class Scene:
    """An owner who invites an address, who opens their link, and an organization that may know it already."""

    database: Database
    here: OrgId
    elsewhere: OrgId
    owner: Person
    holder: Person
    hashed: list[str]

    @property
    def email(self) -> str:
        """The address."""
        return self.holder.email

    async def has_account(self, kind: str) -> None:
        """Give the address an account of this kind."""
        if kind == "none":
            return
        org_ids = () if kind == "of no organization" else (self.elsewhere,)
        await make_user(self.database, *org_ids, email=self.email, proved=kind == "proved")
        if kind == "of a provider":
            managed = {"$set": {"managed_by": self.elsewhere, "password_hash": None}}
            await self.database[users.NAME].update_one({"email": self.email}, managed)

    async def loses_accounts(self) -> None:
        """There is none with the address any more."""
        await self.database[users.NAME].delete_many({"email": self.email})

    async def account(self) -> User | None:
        """The address's own account."""
        return await users.find_user_by_email(self.database, self.email)

    async def invited(self) -> tuple[str, str]:
        """The tokens of an invitation: the one that is shown, and the mailed one."""
        token, invitation = await invite(
            self.database, self.here, self.email, Role.EDITOR,
            invited_by="x", granted=EVERYTHING, now=utc_now(),
        )  # fmt: skip
        return token, await mailed_token(self.database, invitation)

    async def is_open(self, token: str) -> bool:
        """Whether the invitation can still be accepted."""
        return await find_invitation(self.database, token, utc_now()) is not None

    def answer(self, response: httpx.Response) -> Answer:
        """What came, and what was hashed for it."""
        hashes = len(self.hashed)
        self.hashed.clear()
        told = OF_ONE_INVITATION.sub(b"TOKEN", response.content)
        headers = sorted(item for item in response.headers.items() if item[0] != "x-request-id")
        return Answer(response.status_code, headers, told, hashes)

    async def answers(self, token: str) -> list[Answer]:
        """Of the link's page, and of its form with a weak password and with a good one."""
        path = f"/join/{token}"
        page = await self.holder.get(path)
        fields, answers = FormsOf(page.text).fields_of(path), [self.answer(page)]
        for password in ("short", NEW):
            sent = await self.holder.client.post(path, data=fields | {"password": password})
            answers.append(self.answer(sent))
        return answers


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that are hashed, to be stored or compared."""
    passwords: list[str] = []

    def noted(work: Callable[..., Any], at: int) -> Callable[..., Any]:
        def call(hasher: PasswordHasher, *arguments: str) -> Any:
            passwords.append(arguments[at])
            return work(hasher, *arguments)

        return call

    monkeypatch.setattr(PasswordHasher, "hash", noted(PasswordHasher.hash, 0))
    monkeypatch.setattr(PasswordHasher, "verify", noted(PasswordHasher.verify, 1))
    return passwords


@pytest.fixture
async def scene(
    service: Service, database: Database, make_organization: OrganizationFactory, hashed: list[str]
) -> AsyncIterator[Scene]:
    """An address without an account. The browsers have their cookies."""
    here, elsewhere = (await make_organization()).id, (await make_organization()).id
    async with AsyncExitStack() as opened:
        clients = [await opened.enter_async_context(browser(service)) for _ in range(2)]
        owner = Person(clients[0], await make_user(database, here))
        await open_session(database, owner)
        holder = Person(clients[1], f"{secrets.token_hex(8)}@corp.example")
        await holder.get("/sign-in")
        hashed.clear()
        yield Scene(database, here, elsewhere, owner, holder, hashed)


@pytest.mark.parametrize("kind", ["proved", "not proved", "of no organization", "of a provider"])
async def test_a_handed_link_tells_of_no_account(scene: Scene, kind: str) -> None:
    """Its page, and what it answers to a password, have the same bytes and headers and take as many hashes as
    without an account, and nobody is signed in."""
    told: dict[str, list[Answer]] = {}
    for account in (kind, "none"):
        await scene.has_account(account)
        told[account] = await scene.answers((await scene.invited())[0])
        signed_out = await scene.holder.get("/tags")
        assert signed_out.headers["location"].startswith("/sign-in")
        await scene.loses_accounts()
    assert told[kind] == told["none"]
    assert [(answer.status, answer.hashes) for answer in told[kind]] == [(200, 0), (422, 0), (303, 1)]


@pytest.mark.parametrize("kind", ["proved", "not proved"])
async def test_what_a_handed_link_leaves_as_it_was(scene: Scene, kind: str) -> None:
    """Where there is an account, the password is not its password, and the invitation is still open: the
    person signs in and accepts it. A link in their mail tells them that they have an account."""
    await scene.has_account(kind)
    before, (handed, mailed) = await scene.account(), await scene.invited()
    await scene.answers(handed)
    assert (await scene.account(), await scene.is_open(handed)) == (before, True)
    assert "There is an account for this address" in (await scene.holder.get(f"/join/{mailed}")).text
    path = f"/join/{handed}"
    assert (await scene.holder.sign_in(next=path)).headers["location"] == path
    assert (await scene.holder.join(path, NEW)).headers["location"] == "/"
    joined = await scene.account()
    assert joined
    assert set(joined.org_ids) == {scene.here, scene.elsewhere}
    assert not await scene.is_open(handed)


async def test_a_handed_link_makes_an_account_where_there_is_none(scene: Scene) -> None:
    """Its password signs in."""
    handed, _ = await scene.invited()
    assert (await scene.holder.join(f"/join/{handed}", NEW)).headers["location"] == "/"
    joined = await scene.account()
    assert joined
    assert (joined.org_ids, joined.is_address_proved) == ((scene.here,), False)


async def test_who_invites_is_told_of_no_account_elsewhere(scene: Scene) -> None:
    """The page that shows an invitation's link is the same for every address that is no member's."""
    answers = []
    for kind in ("none", "proved", "not proved", "of no organization", "of a provider"):
        await scene.has_account(kind)
        form = {"email": scene.email, "role": "viewer"}
        answers.append(scene.answer(await scene.owner.send("/members", "/members/invitations", **form)))
        await scene.loses_accounts()
    assert answers == [answers[0]] * 5
    assert answers[0].status == 200
