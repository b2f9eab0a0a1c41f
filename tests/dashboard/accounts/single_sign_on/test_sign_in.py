"""Signing in by a real provider, and out again."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

from backend.app import Service
from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import SignInWay
from backend.storage.accounts.organizations import set_requires_second_factor, set_requires_single_sign_on
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.dashboard.accounts.single_sign_on.conftest import BASE_URL, Entrance, open_entrance
from tests.dashboard.people import PASSWORD, Person
from tests.facts.organizations import TestOrganization
from tests.processes.identity_provider.provider_process import Provider


async def test_somebody_is_made_a_member_on_the_first_sign_in(entrance: Entrance) -> None:
    """With the role of their groups, without a password, by code flow with PKCE, state and nonce."""
    async with entrance.guest() as guest:
        sent = dict(parse_qsl(urlsplit(await entrance.begin(guest)).query))
        assert (sent["response_type"], sent["code_challenge_method"]) == ("code", "S256")
        assert sent["scope"] == "openid email profile groups"
        assert {"state", "nonce", "code_challenge"} <= sent.keys()
        answer = await entrance.come(guest, "Marketing", "Sales")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        user = await entrance.account(guest)
        assert (user.roles, user.password_hash) == ({entrance.org_id: Role.EDITOR}, None)
        assert f"Signed in {SignInWay.PROVIDER.value}" in (await guest.get("/settings")).text
        assert (await guest.get("/links")).status_code == 200
        assert (await guest.get(f"{entrance.start}?next=/links")).headers["location"] == "/links"


async def test_what_only_the_userinfo_endpoint_tells(
    service: Service, database: Database, providers: list[Provider], organization: TestOrganization
) -> None:
    """Address and groups are asked for there, where the ID token does not have them."""
    entrance = await open_entrance(service, database, providers[1], organization)
    async with entrance.guest() as guest:
        assert (await entrance.come(guest, "Marketing")).status_code == 303
        user = await entrance.account(guest)
        assert user.roles == {entrance.org_id: Role.EDITOR}


async def test_a_new_key_of_the_provider_is_fetched(entrance: Entrance) -> None:
    """At the first ID token that it signs."""
    async with entrance.guest() as guest:
        await entrance.come(guest, "Marketing")
        guest.client.cookies.clear()
        await entrance.provider.change_keys()
        assert (await entrance.come(guest, "Marketing")).status_code == 303


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
        left = (await guest.send("/tags", "/sign-out")).headers["location"]
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
