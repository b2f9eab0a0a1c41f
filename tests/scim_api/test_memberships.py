"""What follows for members from what a provider tells."""

from __future__ import annotations

import secrets
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.ids import OrgId
from backend.storage.accounts.directory.people import unlink_people_of
from backend.storage.accounts.users import invitations, sessions, users
from backend.storage.audit.log import LogFilter, read_back
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.scim_api.identity_provider import IdentityProvider, account, connect


@pytest.fixture
async def provider(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> IdentityProvider:
    """The organization's provider, with groups for owners and editors."""
    return await connect(client, database, organization.id, Admins=Role.OWNER, Editors=Role.EDITOR)


async def role_of(database: Database, email: str, org_id: OrgId) -> Role | None:
    """The role of an account in the organization; None if it is no member."""
    user = await account(database, email)
    return user.role_in(org_id) if org_id in user.org_ids else None


async def test_a_member_who_is_told_keeps_the_role_until_a_group_gives_one(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """Of several groups the strongest role counts, and without any the member has everybody else's."""
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, role=Role.ANALYST)
    user = await provider.user(email)
    assert await role_of(database, email, organization.id) is Role.ANALYST
    editors = await provider.group("Editors", user)
    assert await role_of(database, email, organization.id) is Role.EDITOR
    admins = await provider.group("Admins", user)
    assert await role_of(database, email, organization.id) is Role.OWNER
    assert (await provider.call("DELETE", f"/Groups/{admins['id']}")).status_code == 204
    assert await role_of(database, email, organization.id) is Role.EDITOR
    assert (
        await provider.patch(editors, {"op": "replace", "path": "displayName", "value": "Writers"})
    ).is_success
    assert await role_of(database, email, organization.id) is Role.VIEWER


async def test_who_is_shut_out_loses_the_one_membership_at_once(
    service: Service,
    provider: IdentityProvider,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
) -> None:
    """Sessions there end with it. The account, its password and its other organization stay, and so does the
    session there."""
    other = await make_organization()
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, other.id, role=Role.EDITOR)
    async with browser(service) as here, browser(service) as there:
        for client in (here, there):
            await open_session(database, Person(client, email))
        before = await account(database, email)
        own = {"user_id": before.id}
        await database[sessions.NAME].update_one(own, {"$set": {"org_id": other.id}})
        user = await provider.user(email)
        assert (await provider.set_active(user, False)).is_success
        after = await account(database, email)
        left = await database[sessions.NAME].find(own).to_list(None)
        assert [session["org_id"] for session in left] == [other.id]
    log = await read_back(database, other.id, LogFilter(action="session"), None, 10)
    assert not [entry for entry in log.entries if entry.action == "session.ended"]
    assert (after.org_ids, after.password_hash, after.email) == ((other.id,), before.password_hash, email)
    assert after.role_in(other.id) is Role.EDITOR
    assert (await provider.set_active(user, True)).is_success
    assert await role_of(database, email, organization.id) is Role.VIEWER


@pytest.mark.parametrize("shape", ["False", False])
async def test_silence_lets_nobody_in_again(
    provider: IdentityProvider, database: Database, organization: TestOrganization, shape: object
) -> None:
    """A replacement that says nothing about `active` leaves whoever was shut out where they are."""
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, role=Role.EDITOR)
    user = await provider.user(email)
    assert (await provider.patch(user, {"op": "Replace", "path": "active", "value": shape})).is_success
    body = {"schemas": user["schemas"], "userName": email, "displayName": "Ada"}
    assert (await provider.call("PUT", f"/Users/{user['id']}", body)).is_success
    assert await role_of(database, email, organization.id) is None


async def test_whoever_comes_again_with_another_account_is_the_same_person(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """After their account was deleted, the provider still shuts out who has the address."""
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, role=Role.EDITOR)
    user = await provider.user(email)
    deleted = (await account(database, email)).id
    await users.delete_user(database, deleted)
    await unlink_people_of(database, [deleted])
    await make_user(database, organization.id, email=email, role=Role.EDITOR)
    assert (await provider.set_active(user, False)).is_success
    assert await role_of(database, email, organization.id) is None


async def test_the_only_owner_stays(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """No call shuts the only owner out, deletes them, or takes the group away that makes them one."""
    email = await make_user(database, organization.id)
    user = await provider.user(email)
    admins = await provider.group("Admins", user)
    refused = [
        await provider.set_active(user, False),
        await provider.call("DELETE", f"/Users/{user['id']}"),
        await provider.call("DELETE", f"/Groups/{admins['id']}"),
        await provider.patch(admins, {"op": "remove", "path": f'members[value eq "{user["id"]}"]'}),
        await provider.patch(admins, {"op": "replace", "path": "displayName", "value": "Editors"}),
    ]
    assert {answer.status_code for answer in refused} == {409}
    assert all("only owner" in answer.json()["detail"] for answer in refused)
    assert await role_of(database, email, organization.id) is Role.OWNER
    stored = await provider.read(admins)
    assert [member["value"] for member in stored["members"]] == [user["id"]]


async def test_who_is_known_elsewhere_is_told_like_anybody(
    provider: IdentityProvider,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
) -> None:
    """No answer shows whether an address has an account, and no account changes by being told."""
    other = await make_organization()
    known, unknown = await make_user(database, other.id), f"{secrets.token_hex(16)}@example.com"
    before = await account(database, known)

    def plain(user: dict[str, Any], email: str) -> str:
        made = {"id": user["id"], "created": user["meta"]["created"], "email": email}
        made["modified"] = user["meta"]["lastModified"]
        text = str(user)
        for name, value in made.items():
            text = text.replace(value, name)
        return text

    emails = [[{"value": email, "type": "work", "primary": True}] for email in (known, unknown)]
    one = await provider.user(known, emails=emails[0], password="a password of theirs")
    two = await provider.user(unknown, emails=emails[1], password="a password of theirs")
    assert plain(one, known) == plain(two, unknown)
    for user in (one, two):
        assert (await provider.set_active(user, False)).is_success
        assert (await provider.call("DELETE", f"/Users/{user['id']}")).status_code == 204
    assert await account(database, known) == before


async def test_an_invitation_brings_in_who_was_told(
    service: Service, provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """Whoever accepts it gets the role of their groups, and the provider can shut them out from then on."""
    await make_user(database, organization.id)
    email = f"{secrets.token_hex(8)}@example.com"
    user = await provider.user(email)
    await provider.group("Editors", user)
    token, _ = await invitations.invite(
        database, organization.id, email, Role.OWNER, invited_by="a key", granted=EVERYTHING, now=utc_now()
    )
    async with browser(service) as guest:
        joined = await Person(guest, email).join(f"/join/{token}")
    assert joined.status_code == 303
    assert await role_of(database, email, organization.id) is Role.EDITOR
    assert (await provider.set_active(user, False)).is_success
    assert await role_of(database, email, organization.id) is None


async def test_who_is_shut_out_before_they_come_is_not_invited_any_more(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """The link that they got makes them no member."""
    email = f"{secrets.token_hex(8)}@example.com"
    user = await provider.user(email)
    token, _ = await invitations.invite(
        database, organization.id, email, Role.OWNER, invited_by="a key", granted=EVERYTHING, now=utc_now()
    )
    assert (await provider.set_active(user, False)).is_success
    assert await invitations.find_invitation(database, token, utc_now()) is None


async def test_who_is_told_is_not_changed_by_hand(
    provider: IdentityProvider,
    service: Service,
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
) -> None:
    """REST neither removes them nor gives another role than their group, until all is forgotten, and pages
    say why."""
    email = await make_user(database, organization.id, role=Role.ANALYST)
    user = await provider.user(email, displayName="Ada Lovelace")
    await provider.group("Editors", user)
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    path = f"/serviceCore/pa/v1/members/{(await account(database, email)).id}"
    for answer in (
        await client.delete(path, headers=headers),
        await client.patch(path, headers=headers, json={"role": "viewer"}),
    ):
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (409, "PROVISIONED_MEMBER")
    async with browser(service) as owner:
        person = Person(owner, await make_user(database, organization.id))
        await open_session(database, person)
        page = (await person.get("/members")).text
        assert "Ada Lovelace" in page
        assert "by a group" in page
        assert (await person.send("/provisioning", "/provisioning/forget")).status_code == 303
    assert (await client.delete(path, headers=headers)).status_code == 204


async def test_other_roles_of_groups_hold_at_once(
    service: Service, provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """Who is provisioned has another role when an owner sets it, unless nobody would be an owner then."""
    async with browser(service) as client:
        owner = Person(client, await make_user(database, organization.id))
        await open_session(database, owner)
        email = await make_user(database, organization.id, role=Role.VIEWER)
        await provider.group("Editors", await provider.user(email))
        await provider.group("Admins", await provider.user(owner.email))
        form = "/single-sign-on", "/single-sign-on/groups"
        roles = {"group-0": "Editors", "role-0": "analyst", "group-1": "Admins", "role-1": "owner"}
        assert (await owner.send(*form, **roles)).status_code == 303
        assert await role_of(database, email, organization.id) is Role.ANALYST
        refused = await owner.send(*form, **roles | {"role-1": "editor"})
        assert (refused.status_code, "without an owner" in refused.text) == (422, True)
        assert await role_of(database, owner.email, organization.id) is Role.OWNER
