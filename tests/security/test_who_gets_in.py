"""Whoever acts in an organization has proved to be somebody whom it let in, in whatever order things happen.

A stranger owns an organization, runs its provider, and uses an address that is not theirs. A person has that
address, and reads its mails; another organization lets them in. What domain/accounts/entry/who_gets_in.py
says of accounts, addresses, memberships and sign-ins is tried against the service, in random orders.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Coroutine
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from backend.app import Service
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.ids import OrgId
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.people import Person, browser, make_user
from tests.dashboard.people import open_session as sign_in_quickly
from tests.examples import examples
from tests.security.comings import Visitor, World, acts_in, provider_of, send

ResultT = TypeVar("ResultT")
WHO = st.sampled_from(["stranger", "person"])
WHERE = st.sampled_from(["evil", "good"])
WAY = st.sampled_from(LinkWay)
WHICH = st.integers(0, 3)


def chosen(things: list[ResultT], which: int) -> ResultT | None:
    """One of these, rather a new one; None if there is none."""
    return things[-1 - which % len(things)] if things else None


class Comings(RuleBasedStateMachine):
    """What the stranger and the person do, and the organizations' owners and providers."""

    world: ClassVar[World]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def do(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Do it where the service runs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(120)

    @initialize(first=st.sampled_from(["nobody", "stranger", "person"]))
    def begin(self, first: str) -> None:
        """An address for which nobody has an account, or the stranger, or the person by a mail, each as a
        member of the stranger's organization."""
        self.email = f"{secrets.token_hex(8)}@corp.example"
        self.people = {"stranger": self.world.visitor(2), "person": self.world.visitor(2)}
        if first != "nobody":
            self.join("evil", LinkWay.HANDED if first == "stranger" else LinkWay.MAILED, 0)

    def org_id(self, where: str) -> OrgId:
        """The organization with this name."""
        return self.world.evil if where == "evil" else self.world.good

    def at(self, who: str, which: int) -> tuple[Visitor, Any]:
        """Somebody, and one of their browsers."""
        visitor = self.people[who]
        return visitor, visitor.browsers[which % len(visitor.browsers)]

    @rule(where=WHERE, way=WAY)
    def invite(self, where: str, way: LinkWay) -> None:
        """The stranger is shown the links of their organization; the other gives them to the person. Mails
        reach the person."""
        shown, *mailed = self.do(self.world.invited(self.org_id(where), self.email, way)) or [""]
        if shown:
            self.people["stranger" if where == "evil" else "person"].links.append(shown)
        self.people["person"].links.extend(mailed)

    @rule(where=WHERE, way=WAY, at=WHICH)
    def join(self, where: str, way: LinkWay, at: int) -> None:
        """Whoever gets the newest link of an invitation opens it: the person, or the stranger, who is shown
        the one of their organization."""
        self.invite(where, way)
        is_shown = where == "evil" and way is LinkWay.HANDED
        self.open_link("stranger" if is_shown else "person", 0, at)

    @rule()
    def hand_reset(self) -> None:
        """The stranger gets a link for a new password."""
        self.people["stranger"].links.extend(self.do(self.world.handed_reset(self.email)))

    @rule()
    def mail_reset(self) -> None:
        """Somebody asks for a mail with such a link."""
        self.people["person"].links.extend(self.do(self.world.mailed_reset(self.email)))

    @rule(which=WHICH)
    def pass_link_on(self, which: int) -> None:
        """The stranger gives the person a link."""
        if link := chosen(self.people["stranger"].links, which):
            self.people["person"].links.append(link)

    @rule(which=WHICH)
    def tell_password(self, which: int) -> None:
        """The stranger tells the person a password, who takes it for theirs."""
        if password := chosen(self.people["stranger"].passwords, which):
            self.people["person"].passwords.append(password)

    @rule(who=WHO, which=WHICH, at=WHICH)
    def open_link(self, who: str, which: int, at: int) -> None:
        """Somebody accepts an invitation, or sets a new password."""
        visitor, client = self.at(who, at)
        if link := chosen(visitor.links, which):
            self.do(self.world.open_link(visitor, client, self.email, link))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def sign_in(self, who: str, which: int, at: int) -> None:
        """With a password that they know."""
        visitor, client = self.at(who, at)
        if password := chosen(visitor.passwords, which):
            self.do(self.world.sign_in(visitor, client, self.email, password))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def sign_in_by_passkey(self, who: str, which: int, at: int) -> None:
        """With a passkey that they have."""
        visitor, client = self.at(who, at)
        if device := chosen(visitor.devices, which):
            self.do(self.world.sign_in_by_passkey(device, client))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def sign_out(self, who: str, which: int, at: int) -> None:
        """In one browser."""
        self.do(send(self.at(who, at)[1], "/sign-out"))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def set_up_factor(self, who: str, which: int, at: int) -> None:
        """And a passkey beside it."""
        visitor, client = self.at(who, at)
        if password := chosen(visitor.passwords, which):
            self.do(self.world.set_up_factor(visitor, client, password))
            self.do(self.world.add_passkey(visitor, client, self.email, password))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def turn_factor_off(self, who: str, which: int, at: int) -> None:
        """With the password."""
        visitor, client = self.at(who, at)
        if password := chosen(visitor.passwords, which):
            self.do(send(client, "/settings/second-factor/off", password=password))

    @rule(who=WHO, which=WHICH, at=WHICH)
    def change_password(self, who: str, which: int, at: int) -> None:
        """Who knows the former one."""
        visitor, client = self.at(who, at)
        if password := chosen(visitor.passwords, which):
            form = {"current": password, "new": visitor.new_password()}
            self.do(send(client, "/settings/password", **form))

    @rule(where=WHERE, at=WHICH)
    def come_by_provider(self, where: str, at: int) -> None:
        """The stranger's provider says of them what they like; the other one names the person."""
        _, client = self.at("stranger" if where == "evil" else "person", at)
        self.do(self.world.come_by_provider(self.org_id(where), self.email, client))

    @rule(where=WHERE, is_active=st.booleans())
    def tell_by_scim(self, where: str, is_active: bool) -> None:
        """A provider tells of the address."""
        self.do(self.world.tell(self.org_id(where), self.email, is_active=is_active))

    @rule(where=WHERE)
    def remove(self, where: str) -> None:
        """An owner removes the member with the address."""
        self.do(self.world.remove(self.org_id(where), self.email))

    @invariant()
    def no_stranger_acts_in_the_other_organization(self) -> None:
        """In no browser in which they are signed in."""
        if hasattr(self, "people"):
            self.do(self.stranger_is_out())

    def teardown(self) -> None:
        """The stranger tries all that they know and have, and gets in nowhere; the person does, by the
        provider of the organization and by a mail."""
        if not hasattr(self, "people"):
            return
        try:
            self.do(self.stranger_tries_all())
            self.do(self.person_comes_by_provider())
            self.do(self.stranger_tries_all())
            self.do(self.person_comes_by_mail())
            self.do(self.stranger_is_out())
        finally:
            self.do(self.close())

    async def stranger_is_out(self) -> None:
        """In each browser that was somewhere."""
        for client in self.people["stranger"].browsers:
            if "waylink" in client.cookies:
                assert not await acts_in(client, self.world.good)

    async def stranger_tries_all(self) -> None:
        """Links last, since they change what there is."""
        stranger, good = self.people["stranger"], self.world.good
        await self.stranger_is_out()
        for password in stranger.passwords[-3:]:
            async with browser(self.world.service) as client:
                await self.world.sign_in(stranger, client, self.email, password)
                assert not await acts_in(client, good)
        for device in stranger.devices:
            async with browser(self.world.service) as client:
                await self.world.sign_in_by_passkey(device, client)
                assert not await acts_in(client, good)
        for link in stranger.links[-2:]:
            async with browser(self.world.service) as client:
                password = stranger.new_password()
                await send(client, link, password=password)
                await self.world.sign_in(stranger, client, self.email, password)
                assert not await acts_in(client, good)

    async def person_comes_by_provider(self) -> None:
        """Who is not shut out gets in."""
        client = self.people["person"].browsers[0]
        await self.world.tell(self.world.good, self.email, is_active=True)
        assert await self.world.come_by_provider(self.world.good, self.email, client)
        assert await acts_in(client, self.world.good)

    async def person_comes_by_mail(self) -> None:
        """By a new password where there is an account, and by an invitation where it is no member."""
        person, good = self.people["person"], self.world.good
        async with browser(self.world.service) as client:
            for link in await self.world.mailed_reset(self.email):
                password = person.new_password()
                await send(client, link, password=password)
                await self.world.sign_in(person, client, self.email, password)
            if not await acts_in(client, good):
                _, mailed = await self.world.invited(good, self.email, LinkWay.MAILED)
                await send(client, mailed, password=person.new_password())
            assert await acts_in(client, good)

    async def close(self) -> None:
        """Close all browsers."""
        for visitor in self.people.values():
            for client in visitor.browsers:
                await client.aclose()


Order = list[tuple[str, dict[str, Any]]]
STRANGERS, PERSONS = {"who": "stranger", "which": 0, "at": 0}, {"who": "person", "which": 0, "at": 0}
PROVIDER: Order = [("come_by_provider", {"where": "good", "at": 0})]


def joins(where: str, way: LinkWay, at: int = 0) -> tuple[str, dict[str, Any]]:
    """An invitation that is accepted."""
    return "join", {"where": where, "way": way, "at": at}


def told(*, is_active: bool) -> tuple[str, dict[str, Any]]:
    """What the provider of the organization tells by SCIM."""
    return "tell_by_scim", {"where": "good", "is_active": is_active}


# By each of these, without the rule that it is named by, the stranger would get in, or the person would not:
# whose account is the first one, and what happens then.
KNOWN_ORDERS: dict[str, tuple[str, Order]] = {
    "single sign-on joins no account of elsewhere": ("stranger", PROVIDER),
    "nor one that was invited": (
        "stranger",
        [("invite", {"where": "good", "way": LinkWay.HANDED}), *PROVIDER],
    ),
    "a session through a provider opens its own organization": (
        "person",
        [joins("good", LinkWay.HANDED), ("come_by_provider", {"where": "evil", "at": 0})],
    ),
    "an account that is not proved joins with a new password": (
        "stranger",
        [("tell_password", {"which": 0}), ("sign_in", PERSONS), joins("good", LinkWay.HANDED)],
    ),
    "a new password by joining ends passkeys": (
        "stranger",
        [("set_up_factor", STRANGERS), joins("good", LinkWay.MAILED)],
    ),
    "the first new password by mail ends passkeys": (
        "stranger",
        [
            ("set_up_factor", STRANGERS),
            ("mail_reset", {}),
            ("open_link", PERSONS),
            ("sign_in", PERSONS),
            joins("good", LinkWay.HANDED),
        ],
    ),
    "a handed link is asked about when it is used": (
        "person",
        [("hand_reset", {}), joins("good", LinkWay.HANDED)],
    ),
    "a handed password is not the person's": (
        "person",
        [("hand_reset", {}), ("open_link", STRANGERS), ("sign_in", STRANGERS), *PROVIDER,
         ("tell_password", {"which": 0}), ("sign_in", PERSONS), joins("good", LinkWay.HANDED)],
    ),
    "a handed password cuts what the provider knew": (
        "person",
        [joins("good", LinkWay.HANDED), ("come_by_provider", {"where": "good", "at": 1}),
         ("remove", {"where": "good"}), ("hand_reset", {}), ("open_link", STRANGERS), *PROVIDER],
    ),
    "a handed password cuts what SCIM knew": (
        "person",
        [joins("good", LinkWay.HANDED), told(is_active=True), told(is_active=False), ("hand_reset", {}),
         ("open_link", STRANGERS), told(is_active=True)],
    ),
}  # fmt: skip


@pytest.fixture
async def comings(
    service: Service, database: Database, clock: MovableClock, make_organization: OrganizationFactory
) -> AsyncIterator[type[Comings]]:
    """The machine, between the stranger's organization and the other one."""
    evil, good = (await make_organization()).id, (await make_organization()).id
    for org_id in (evil, good):
        await set_provider(database, org_id, provider_of(org_id))
        await set_group_roles(database, org_id, GroupRoles((), Role.EDITOR))
    await make_user(database, good)
    async with browser(service) as client:
        owner = Person(client, await make_user(database, evil))
        await sign_in_quickly(database, owner)

        class Here(Comings):
            """In this world."""

        Here.world = World(service, database, clock, evil, good, owner)
        Here.loop = asyncio.get_running_loop()
        yield Here


async def test_whoever_acts_in_an_organization_was_let_in(comings: type[Comings]) -> None:
    """Over orders of invitations, links for passwords, sign-ins, single sign-on, SCIM, removals, passkeys and
    second factors."""
    few = settings(max_examples=examples(10), stateful_step_count=15, phases=(Phase.generate, Phase.shrink))
    await asyncio.to_thread(run_state_machine_as_test, comings, settings=few)


@pytest.mark.parametrize("what", KNOWN_ORDERS)
async def test_orders_by_which_a_stranger_would_get_in(comings: type[Comings], what: str) -> None:
    """Each was tried without the rule that it is named by, and failed."""

    def play() -> None:
        machine = comings()
        first, order = KNOWN_ORDERS[what]
        machine.begin(first=first)
        try:
            for step, arguments in order:
                getattr(machine, step)(**arguments)
                machine.no_stranger_acts_in_the_other_organization()
        finally:
            machine.teardown()

    await asyncio.to_thread(play)
