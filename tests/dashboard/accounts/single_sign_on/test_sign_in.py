"""Signing in by a real provider."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from backend.app import Service
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import SignInWay
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.accounts.single_sign_on.refusals import REFUSAL_WORDS, Refusal
from backend.storage.accounts.directory import people
from backend.storage.accounts.organizations import set_requires_second_factor, set_requires_single_sign_on
from backend.storage.accounts.single_sign_on.settings import find_provider, set_group_roles, set_provider
from backend.storage.accounts.users.invitations import invite, list_invitations
from backend.storage.accounts.users.members import remove_member
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.audit.log import LogFilter, read_back
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.system.clock import utc_now
from tests.conftest import MovableClock, OrganizationFactory
from tests.dashboard.accounts.single_sign_on.conftest import BASE_URL, Entrance, open_entrance
from tests.dashboard.people import PASSWORD, FormsOf, Person, make_user, open_session
from tests.facts.organizations import TestOrganization
from tests.processes.identity_provider.provider_process import Provider


def changed(address: str, **arguments: str) -> str:
    """The address with other values of these arguments."""
    parts = urlsplit(address)
    return parts._replace(query=urlencode(dict(parse_qsl(parts.query)) | arguments)).geturl()


async def test_somebody_is_made_a_member_on_the_first_sign_in(entrance: Entrance) -> None:
    """With the role of their groups, without a password, by code flow with PKCE, state and nonce."""
    async with entrance.guest() as guest:
        sent = dict(parse_qsl(urlsplit(await entrance.begin(guest)).query))
        assert (sent["response_type"], sent["code_challenge_method"]) == ("code", "S256")
        assert sent["scope"] == "openid email profile groups"
        assert {"state", "nonce", "code_challenge"} <= sent.keys()
        answer = await entrance.come(guest, "Marketing", "Sales")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        user = await entrance.user(guest)
        assert user is not None
        assert (user.roles, user.password_hash) == ({entrance.org_id: Role.EDITOR}, None)
        assert f"Signed in {SignInWay.PROVIDER.value}" in (await guest.get("/settings")).text
        assert (await guest.get("/links")).status_code == 200
        assert (await guest.get(f"{entrance.start}?next=/links")).headers["location"] == "/links"


async def test_groups_become_the_role_at_each_sign_in(entrance: Entrance, organization: object) -> None:
    """A stronger one, a weaker one, and none: then nobody is let in, and the sessions there end."""
    async with entrance.guest() as guest, entrance.guest() as elsewhere:
        elsewhere.email = guest.email
        await entrance.come(guest, "Marketing")
        for groups, role in ((["Marketing", "IT"], Role.OWNER), (["Marketing"], Role.EDITOR)):
            await make_user(entrance.database, entrance.org_id)  # another owner
            assert (await entrance.come(elsewhere, *groups)).status_code == 303
            elsewhere.client.cookies.clear()
            user = await entrance.user(guest)
            assert user is not None
            assert user.role_in(entrance.org_id) is role
        refused = await entrance.come(elsewhere, "Sales")
        assert (refused.status_code, "None of your groups has a role here" in refused.text) == (403, True)
        assert (await guest.get("/links")).headers["location"].startswith("/sign-in")
        user = await entrance.user(guest)
        assert user is not None
        assert user.org_ids == ()
        assert [(told.refusal, told.email, told.detail) for told in await entrance.refusals()] == [
            (Refusal.NO_ROLE, guest.email, "groups: Sales")
        ]
        assert (await entrance.come(elsewhere, "Marketing")).status_code == 303


async def test_the_only_owner_stays_one(entrance: Entrance) -> None:
    """Groups that give less, or nothing, take the last owner's role from nobody."""
    async with entrance.guest() as guest:
        await make_user(entrance.database, entrance.org_id, email=guest.email)
        await entrance.come(guest, "Marketing")
        user = await entrance.user(guest)
        assert user is not None
        assert user.role_in(entrance.org_id) is Role.OWNER
        guest.client.cookies.clear()
        assert (await entrance.come(guest)).status_code == 403
        assert await entrance.user(guest) == user


async def test_everybody_else_may_have_a_role(entrance: Entrance) -> None:
    """Without groups, where the owner says so."""
    await set_group_roles(entrance.database, entrance.org_id, GroupRoles((), Role.VIEWER))
    async with entrance.guest() as guest:
        assert (await entrance.come(guest)).status_code == 303
        user = await entrance.user(guest)
        assert user is not None
        assert user.role_in(entrance.org_id) is Role.VIEWER


@pytest.mark.parametrize(
    ("claims", "refusal"),
    [
        ({"email_verified": False}, Refusal.EMAIL_NOT_VERIFIED),
        ({"email_verified": None}, Refusal.EMAIL_NOT_VERIFIED),
        ({"email": None}, Refusal.NO_EMAIL),
        ({"groups": []}, Refusal.NO_ROLE),
    ],
)
async def test_who_is_not_let_in(entrance: Entrance, claims: dict[str, object], refusal: Refusal) -> None:
    """The person reads what to do next, the owner sees it, and nobody was made."""
    async with entrance.guest() as guest:
        refused = await entrance.come(guest, "Marketing", **claims)
        assert refused.status_code == 403
        for words in (REFUSAL_WORDS[refusal].title, REFUSAL_WORDS[refusal].next_step):
            assert words in refused.text
        assert [told.refusal for told in await entrance.refusals()] == [refusal]
        assert await entrance.user(guest) is None


async def test_addresses_of_other_domains_and_unverified_ones(entrance: Entrance) -> None:
    """Domains are those that the owner names, who can also vouch for addresses that nobody calls verified."""
    provider = await find_provider(entrance.database, entrance.org_id)
    assert provider is not None
    other = replace(provider, email_domains=("elsewhere.example",), vouches_for_emails=True)
    await set_provider(entrance.database, entrance.org_id, other)
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing", email_verified=None)
        assert [told.refusal for told in await entrance.refusals()] == [Refusal.OTHER_DOMAIN]
        await set_provider(
            entrance.database, entrance.org_id, replace(other, email_domains=("shop.example",))
        )
        assert (await entrance.come(guest, "Marketing", email_verified=None)).status_code == 303
        guest.client.cookies.clear()
        await set_provider(entrance.database, entrance.org_id, other)
        assert (await entrance.come(guest, "Marketing")).status_code == 403


async def test_a_known_address_of_another_organization(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database
) -> None:
    """No provider takes over an account: it takes an invitation, and opens its own organization only."""
    victims = await make_organization()
    async with entrance.guest() as guest:
        await make_user(database, victims.id, email=guest.email)
        refused = await entrance.come(guest, "IT")
        assert (refused.status_code, "does not belong to this organization" in refused.text) == (403, True)
        before = await entrance.user(guest)
        assert before is not None
        assert before.org_ids == (victims.id,)

        await invite(
            database,
            entrance.org_id,
            guest.email,
            Role.VIEWER,
            invited_by="x",
            granted=EVERYTHING,
            now=utc_now(),
        )
        assert (await entrance.come(guest, "IT")).status_code == 303
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
        assert await entrance.user(guest) == replace(
            before, org_ids=(victims.id, entrance.org_id), roles={**before.roles, entrance.org_id: Role.OWNER}
        )


async def test_a_session_through_a_provider_reaches_no_other_organization(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database, service: Service
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
        token, _ = await invite(
            database, (third := await make_organization()).id, guest.email, Role.OWNER,
            invited_by="x", granted=EVERYTHING, now=utc_now(),
        )  # fmt: skip
        assert "by single sign-on of another organization" in (await guest.get(f"/join/{token}")).text
        user = await entrance.user(guest)
        assert user is not None
        assert third.id not in user.org_ids
        await remove_member(database, entrance.org_id, user.id, granted=EVERYTHING, now=utc_now())
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
        await guest.send("/settings", "/sign-out")
    for org_id, recorded in ((entrance.org_id, ["session.ended", "session.opened"]), (elsewhere.id, [])):
        log = await read_back(database, org_id, LogFilter(action="session"), None, 10)
        assert [entry.action for entry in log.entries] == recorded


async def test_two_organizations_with_their_own_providers(
    entrance: Entrance,
    make_organization: OrganizationFactory,
    database: Database,
    providers: list[Provider],
    service: Service,
) -> None:
    """The other provider can't name somebody by the id that they have at the first, nor by their address."""
    other = await open_entrance(service, database, providers[1], await make_organization())
    async with entrance.guest() as guest, other.guest() as impostor:
        impostor.email = guest.email
        assert (await entrance.come(guest, "IT")).status_code == 303
        refused = await other.come(impostor, "IT")  # with the same `sub`
        assert (refused.status_code, "does not belong to this organization" in refused.text) == (403, True)
        user = await entrance.user(guest)
        assert user is not None
        assert user.org_ids == (entrance.org_id,)


async def test_who_was_told_by_scim(entrance: Entrance) -> None:
    """The account is theirs, the role that SCIM's groups gave counts, and who is shut out there stays out."""
    async with entrance.guest() as guest:
        told = ProvisionedPerson(
            id=str(uuid.uuid4()), org_id=entrance.org_id, user_name=guest.email, created_at=utc_now(),
            modified_at=utc_now(), group_role=Role.ANALYST,
        )  # fmt: skip
        await _tell(entrance.database, told)
        assert (await entrance.come(guest, "IT")).status_code == 303
        user = await entrance.user(guest)
        assert user is not None
        assert user.role_in(entrance.org_id) is Role.ANALYST
        joined = await people.find_person_of(entrance.database, entrance.org_id, user.id)
        assert joined is not None
        assert joined.id == told.id
        guest.client.cookies.clear()
        await _tell(entrance.database, replace(joined, is_active=False))
        assert "has shut you out" in (await entrance.come(guest, "IT")).text


async def _tell(database: Database, person: ProvisionedPerson) -> None:
    """Store what the provider told, in the place of what it told before."""

    async def work(session: ClientSession) -> None:
        await database[people.NAME].delete_one({"_id": person.id}, session=session)
        await people.PEOPLE.insert(database, person, session)

    await in_transaction(database, work)


async def test_what_only_the_userinfo_endpoint_tells(
    service: Service, database: Database, providers: list[Provider], organization: TestOrganization
) -> None:
    """Address and groups are asked for there, where the ID token does not have them."""
    entrance = await open_entrance(service, database, providers[1], organization)
    async with entrance.guest() as guest:
        assert (await entrance.come(guest, "Marketing")).status_code == 303
        user = await entrance.user(guest)
        assert user is not None
        assert user.roles == {entrance.org_id: Role.EDITOR}


async def test_one_provider_of_two_organizations(
    entrance: Entrance, make_organization: OrganizationFactory, database: Database, service: Service
) -> None:
    """It is the same person at both, by the provider's own id, and needs no invitation."""
    second = await open_entrance(service, database, entrance.provider, await make_organization())
    async with entrance.guest() as guest:
        assert (await entrance.come(guest, "IT")).status_code == 303
        assert (await second.come(guest, "Marketing")).status_code == 303
        user = await entrance.user(guest)
        assert user is not None
        assert user.roles == {entrance.org_id: Role.OWNER, second.org_id: Role.EDITOR}


async def test_an_address_that_another_person_gets(entrance: Entrance) -> None:
    """A new colleague with the address of one who left does not get that one's account."""
    async with entrance.guest() as guest, entrance.guest() as heir:
        await entrance.come(guest, "Marketing")
        refused = await entrance.come(heir, "Marketing", email=guest.email)
        assert (refused.status_code, "belongs to another person" in refused.text) == (403, True)


async def test_a_new_key_of_the_provider_is_fetched(entrance: Entrance) -> None:
    """At the first ID token that it signs."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        guest.client.cookies.clear()
        await entrance.provider.change_keys()
        assert (await entrance.come(guest, "Marketing")).status_code == 303


async def test_answers_that_were_not_asked_for(entrance: Entrance) -> None:
    """A wrong nonce, another state, another browser, another issuer, a code that was used."""
    async with entrance.guest() as guest, entrance.guest() as victim:
        await entrance.has(guest, "Marketing")
        begun = await entrance.begin(guest)
        back = await entrance.provider.visit(changed(begun, nonce="another"), guest.email)
        assert "is not valid" in (await entrance.arrive(guest, back)).text
        back = await entrance.provider.visit(begun, guest.email)
        for wrong in (changed(back, state="x" * 80), changed(back, state="")):
            assert "not begun in this browser" in (await entrance.arrive(guest, wrong)).text
        assert "not begun in this browser" in (await entrance.arrive(victim, back)).text
        wrong = changed(back, iss="https://evil.example")
        assert "is not valid" in (await entrance.arrive(guest, wrong)).text
        assert (await entrance.arrive(guest, back)).status_code == 303
        assert "not begun in this browser" in (await entrance.arrive(guest, back)).text
        refusals = [(told.refusal, told.detail) for told in await entrance.refusals()]
        assert refusals == [
            (Refusal.INVALID_TOKEN, "iss of the answer is https://evil.example"),
            (Refusal.INVALID_TOKEN, "nonce of the ID token is not right"),
        ]


async def test_refusals_on_the_way(entrance: Entrance, clock: MovableClock) -> None:
    """Who stops at the provider, who takes too long, and clocks that differ."""
    async with entrance.guest() as guest:
        await entrance.has(guest, "Marketing")
        stopped = await entrance.arrive(guest, await entrance.provider.refuse(await entrance.begin(guest)))
        assert "did not let you go on" in stopped.text
        back = await entrance.provider.visit(await entrance.begin(guest), guest.email)
        clock.offset = timedelta(minutes=11)
        assert "That took too long" in (await entrance.arrive(guest, back)).text
        for offset in (timedelta(hours=2), timedelta(hours=-2)):
            clock.offset = offset
            assert "The clocks of your identity provider" in (await entrance.come(guest, "Marketing")).text
        told = [told.refusal for told in await entrance.refusals()]
        assert sorted(told) == [Refusal.CLOCK, Refusal.CLOCK, Refusal.DENIED, Refusal.EXPIRED]


async def test_a_secret_that_is_not_right_any_more(entrance: Entrance) -> None:
    """The person is told whom to ask, the owner which field it is."""
    provider = await find_provider(entrance.database, entrance.org_id)
    assert provider is not None
    await set_provider(entrance.database, entrance.org_id, replace(provider, client_secret="old"))
    async with entrance.guest() as guest:
        assert "refuses this service" in (await entrance.come(guest, "Marketing")).text
        (told,) = await entrance.refusals()
        assert (told.refusal, "client secret" in told.for_owner) == (Refusal.CLIENT_REFUSED, True)


async def test_required(entrance: Entrance, person: Person, database: Database) -> None:
    """A session that a password opened shows nothing of the organization; one through the provider does."""
    await set_requires_single_sign_on(database, entrance.org_id, is_on=True)
    assert (await person.get("/links")).headers["location"] == "/enter"
    assert entrance.start in (await person.get("/enter")).text
    assert (await person.get("/live/stream")).headers["location"] == "/enter"
    assert (await entrance.come(person, "IT")).status_code == 303
    assert (await person.get("/links")).status_code == 200


async def test_the_provider_stands_for_the_second_factor(entrance: Entrance, database: Database) -> None:
    """Where the organization requires one, it is not asked for again."""
    await set_requires_second_factor(database, entrance.org_id, True)
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        assert (await guest.get("/links")).status_code == 200


async def test_signing_out(entrance: Entrance) -> None:
    """Ends the session here, and leads to where it is ended at the provider."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        left = (await guest.send("/", "/sign-out")).headers["location"]
        page = await guest.get(left)
        assert f"{entrance.provider.issuer}/session/end?client_id=" in page.text
        assert (await guest.get("/")).headers["location"] == "/sign-in"
        assert f'href="{entrance.start}"' in (await guest.get("/sign-in")).text


async def test_a_session_ends_after_half_a_day(entrance: Entrance, clock: MovableClock) -> None:
    """So that who left the organization is asked for again at the provider."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        clock.offset = timedelta(hours=12, minutes=1)
        assert (await guest.get("/links")).headers["location"].startswith("/sign-in")


async def test_who_has_no_password(entrance: Entrance) -> None:
    """No password signs in an account that came through the provider."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        guest.client.cookies.clear()
        for password in ("", PASSWORD):
            assert (await guest.sign_in(password)).status_code == 422


async def test_an_organization_without_a_provider(person: Person, organization: TestOrganization) -> None:
    """Its address says the same as that of no organization."""
    pages = [
        await person.get(f"/sign-in/single/{name}{end}")
        for name in (organization.id, "0" * 8)
        for end in ("", "/callback", "/left")
    ]
    assert {page.status_code for page in pages} == {404}
    assert len({page.text for page in pages}) == 1
    assert BASE_URL not in pages[0].text
