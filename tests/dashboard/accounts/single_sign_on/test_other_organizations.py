"""What a sign-in by one organization's provider can do to another organization."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.refusals import Refusal
from backend.domain.ids import OrgId
from backend.storage.accounts.provisioning.people_changes import add_person
from backend.storage.accounts.single_sign_on.settings import find_provider, set_provider
from backend.storage.accounts.users.invitations import invite, list_invitations
from backend.storage.accounts.users.members import remove_member
from backend.storage.accounts.users.users import find_user, find_user_by_email
from backend.storage.audit.log import LogFilter, read_back
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.accounts.single_sign_on.conftest import Entrance, open_entrance
from tests.dashboard.people import PASSWORD, FormsOf, make_user, open_session
from tests.processes.identity_provider.provider_process import Provider


async def invitation(database: Database, org_id: OrgId, email: str) -> str:
    """The token of an invitation to the organization."""
    token, _ = await invite(
        database, org_id, email, Role.VIEWER, invited_by="x", granted=EVERYTHING, now=utc_now()
    )
    return token


async def test_a_known_address_of_another_organization(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database
) -> None:
    """No provider reaches the account that somebody has elsewhere: whom it names gets another one, which has
    no sign-in of its own, and opens this organization only. The answer is the same for every address."""
    victims = await make_organization()
    async with entrance.guest() as guest, entrance.guest() as unknown:
        await make_user(database, victims.id, email=guest.email)
        before = await find_user_by_email(database, guest.email)
        assert before is not None
        token = await invitation(database, entrance.org_id, guest.email)
        assert f'href="{entrance.start}"' in (await guest.get(f"/join/{token}")).text
        answers = [await entrance.come(person, "IT") for person in (guest, unknown)]
        assert {(answer.status_code, answer.headers["location"]) for answer in answers} == {(303, "/")}
        assert await list_invitations(database, entrance.org_id, utc_now()) == []
        settings = (await guest.get("/settings")).text
        assert victims.id not in settings
        assert 'action="/settings/password"' not in settings
        form = FormsOf(settings).fields_of("/sign-out") | {
            "org_id": victims.id,
            "current": PASSWORD,
            "new": "x" * 12,
        }
        for path, status in (
            ("/organization", 404),
            ("/settings/password", 403),
            ("/settings/second-factor", 403),
            ("/settings/second-factor/passkeys", 403),
        ):
            assert (await guest.client.post(path, data=form)).status_code == status, path
        assert (await guest.get("/settings/second-factor")).status_code == 403
        account = await entrance.account(guest)
        assert (account.managed_by, account.org_ids) == (entrance.org_id, (entrance.org_id,))
        assert await find_user_by_email(database, guest.email) == before
    async with entrance.guest() as own:
        own.email = guest.email
        assert (await own.sign_in()).status_code == 303
        assert entrance.org_id not in (await own.get("/settings")).text
        form = FormsOf((await own.get("/settings")).text).fields_of("/sign-out") | {"org_id": entrance.org_id}
        assert (await own.client.post("/organization", data=form)).status_code == 404


@pytest.mark.parametrize(
    ("claims", "refusal"),
    [
        ({"email_verified": False}, Refusal.EMAIL_NOT_VERIFIED),
        ({"email": None}, Refusal.NO_EMAIL),
        ({"groups": []}, Refusal.NO_ROLE),
        ({}, Refusal.OTHER_DOMAIN),
        ({}, Refusal.SHUT_OUT),
    ],
)
async def test_a_refusal_tells_of_no_account_elsewhere(
    entrance: Entrance,
    make_organization: OrganizationFactory,
    database: Database,
    claims: dict[str, object],
    refusal: Refusal,
) -> None:
    """Its bytes are the same whether the address has an account of its own elsewhere, one that is invited, or
    none."""
    elsewhere, answers = await make_organization(), []
    provider = await find_provider(database, entrance.org_id)
    assert provider is not None
    if refusal is Refusal.OTHER_DOMAIN:
        domains = ("elsewhere.example",)
        await set_provider(database, entrance.org_id, replace(provider, email_domains=domains))
    async with entrance.guest() as guest:
        if refusal is Refusal.SHUT_OUT:
            now = utc_now()
            out = ProvisionedPerson(
                str(uuid.uuid4()), entrance.org_id, guest.email, now, now, is_active=False
            )
            await add_person(database, out)
        answers.append(await entrance.come(guest, "IT", **claims))
        await make_user(database, elsewhere.id, email=guest.email)
        answers.append(await entrance.come(guest, "IT", **claims))
        await invitation(database, entrance.org_id, guest.email)
        answers.append(await entrance.come(guest, "IT", **claims))
    assert {told.refusal for told in await entrance.refusals()} == {refusal}
    assert {(answer.status_code, answer.content) for answer in answers} == {(403, answers[0].content)}


async def test_a_session_through_a_provider_reaches_no_other_organization(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database
) -> None:
    """It sees no other session, hands no one a link for a password elsewhere, and accepts no invitation; when
    the membership ends, it ends."""
    elsewhere = await make_organization()
    async with entrance.guest() as guest, entrance.guest() as own:
        own.email = guest.email
        await make_user(database, elsewhere.id, entrance.org_id, email=guest.email)
        colleague = await make_user(database, elsewhere.id, entrance.org_id)
        await open_session(database, own)
        assert (await entrance.come(guest, "IT")).status_code == 303
        assert (await guest.get("/settings")).text.count("Signed in ") == 1
        assert (await own.get("/settings")).text.count("Signed in ") == 2
        other = await find_user_by_email(database, colleague)
        assert other is not None
        assert f"/members/{other.id}/new-password" not in (await guest.get("/members")).text
        third = await make_organization()
        path = f"/join/{await invitation(database, third.id, guest.email)}"
        assert "by single sign-on" in (await guest.get(path)).text
        form = FormsOf((await guest.get("/tags")).text).fields_of("/sign-out")
        assert "by single sign-on" in (await guest.client.post(path, data=form)).text
        user = await entrance.account(guest)
        assert third.id not in user.org_ids
        await remove_member(database, entrance.org_id, user.id, granted=EVERYTHING)
        assert (await guest.get("/")).headers["location"].startswith("/sign-in")
        assert (await own.get("/links")).status_code == 200
        assert (await entrance.come(own, "IT")).status_code == 303  # a member again
        assert (await guest.get("/")).headers["location"].startswith("/sign-in")


async def test_another_organization_hears_nothing_of_it(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database
) -> None:
    """Whoever runs a provider writes into no log but that of the organization whose provider it is."""
    elsewhere = await make_organization()
    async with entrance.guest() as guest:
        await make_user(database, elsewhere.id, entrance.org_id, email=guest.email)
        assert (await entrance.come(guest, "IT")).status_code == 303
        await guest.send("/tags", "/sign-out")
    for org_id, recorded in ((entrance.org_id, ["session.ended", "session.opened"]), (elsewhere.id, [])):
        log = await read_back(database, org_id, LogFilter(action="session"), None, 10)
        assert [entry.action for entry in log.entries] == recorded


async def test_two_organizations_with_their_own_providers(
    entrance: Entrance,
    make_organization: OrganizationFactory,
    database: Database,
    providers: list[Provider],
) -> None:
    """The other provider can't name somebody by the id that they have at the first, nor by their address."""
    other = await open_entrance(entrance.service, database, providers[1], await make_organization())
    async with entrance.guest() as guest, other.guest() as impostor:
        impostor.email = guest.email
        assert (await entrance.come(guest, "IT")).status_code == 303
        before = await entrance.account(guest)
        assert (await other.come(impostor, "IT")).status_code == 303  # with the same `sub`
        assert (await other.account(impostor)).id != before.id
        assert await entrance.account(guest) == before


async def test_one_provider_of_two_organizations(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database
) -> None:
    """Each has an account of its own: what somebody may do at one is no matter of the other."""
    second = await open_entrance(entrance.service, database, entrance.provider, await make_organization())
    async with entrance.guest() as guest:
        assert (await entrance.come(guest, "IT")).status_code == 303
        assert (await second.come(guest, "Marketing")).status_code == 303
        roles = [(await one.account(guest)).roles for one in (entrance, second)]
        assert roles == [{entrance.org_id: Role.OWNER}, {second.org_id: Role.EDITOR}]


async def test_whoever_came_by_the_provider_gets_a_sign_in_of_their_own(
    entrance: Entrance, database: Database
) -> None:
    """By an invitation: the same member, with the same role, whom the provider finds from then on. The
    account and the sessions of before end."""
    async with entrance.guest() as guest, entrance.guest() as invited:
        invited.email = guest.email
        assert (await entrance.come(guest, "IT")).status_code == 303
        before = await entrance.account(guest)
        path = f"/join/{await invitation(database, entrance.org_id, guest.email)}"
        assert (await invited.join(path)).status_code == 303
        assert (await guest.get("/links")).headers["location"].startswith("/sign-in")
        account = await entrance.account(guest)
        assert (account.managed_by, account.roles) == (None, before.roles)
        assert await find_user(database, before.id) is None
        assert (await entrance.come(guest, "IT")).status_code == 303
        assert (await entrance.account(guest)).id == account.id
