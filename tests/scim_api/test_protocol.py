"""The protocol beyond what the tester looks at: tokens, tenancy, searches, and what providers really send."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import httpx
import pytest

from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role
from backend.scim_api.blueprint import MAX_BODY_BYTES
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.dashboard.people import make_user
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.scim_api.identity_provider import ERROR, GROUP, PATCH_OP, USER, IdentityProvider, account, connect

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


@pytest.fixture
async def provider(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> IdentityProvider:
    """The organization's provider."""
    return await connect(client, database, organization.id, Editors=Role.EDITOR)


async def test_every_path_needs_a_token_in_force(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Neither no token, nor a made-up one, nor a REST key is one; each answer is in SCIM's shape."""
    for path in ("/Users", "/Groups", "/ServiceProviderConfig", "/ResourceTypes", "/Schemas", "/x"):
        for headers in (
            {},
            {"Authorization": "Bearer c_scim_x"},
            {"Authorization": f"Bearer {organization.rest_key}"},
        ):
            answer = await client.get(f"/scim/v2{path}", headers=headers)
            assert (answer.status_code, answer.json()["schemas"]) == (401, [ERROR]), path
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert answer.headers["Content-Type"] == "application/scim+json"


async def test_only_who_may_do_everything_makes_a_token(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """A key that makes keys, and may do less, makes none that decides who is an owner."""
    for scopes, status in (
        ((Permission.KEYS_WRITE, Permission.MEMBERS_WRITE), 403),
        (tuple(Permission), 201),
    ):
        key = await make_scoped_key(database, organization, scopes)
        answer = await client.post("/serviceCore/pa/v1/keys", json={"kind": "scim"}, headers={"API-KEY": key})
        assert answer.status_code == status


async def test_nothing_of_another_organization_is_there(
    provider: IdentityProvider,
    client: httpx.AsyncClient,
    database: Database,
    make_organization: OrganizationFactory,
) -> None:
    """Another organization's token finds, reads, changes and deletes nothing, and may use the same names."""
    theirs = await connect(client, database, (await make_organization()).id)
    user = await provider.user("ada@shop.example", externalId="1")
    group = await provider.group("Editors", user)
    for resource in (user, group):
        kind = f"{resource['meta']['resourceType']}s"
        path = f"/{kind}/{resource['id']}"
        removal = {"schemas": [PATCH_OP], "Operations": [{"op": "remove", "path": "externalId"}]}
        for method, body in (("GET", None), ("PUT", resource), ("PATCH", removal), ("DELETE", None)):
            assert (await theirs.call(method, path, body)).status_code == 404
        assert (await theirs.call("GET", f"/{kind}")).json()["totalResults"] == 0
        assert (await theirs.find(kind, f'id eq "{resource["id"]}"')).json()["totalResults"] == 0
    wrong = {"schemas": [GROUP], "displayName": "Editors", "members": [{"value": user["id"]}]}
    refused = await theirs.call("POST", "/Groups", wrong)
    assert (refused.status_code, refused.json()["scimType"]) == (400, "invalidValue")
    assert (await theirs.user("ada@shop.example", externalId="1"))["id"] != user["id"]
    assert await provider.read(group) == group


FILTERS = [
    ("Users", 'userName eq "ADA@shop.example"'),
    ("Users", 'externalId eq "a1"'),
    ("Users", 'emails.value eq "Ada.Work@shop.example"'),
    ("Users", 'emails eq "ada.work@shop.example"'),
    ("Users", 'emails[type eq "work" and value eq "ada.work@shop.example"]'),
    ("Users", 'emails[type eq "Home" and (value eq "no@shop.example" or value eq "ADA@home.example")]'),
    ("Users", 'emails[type eq "home" and value eq "ada@home.example" or value eq "no@shop.example"]'),
    ("Users", 'displayName eq "ada lovelace" and active eq true'),
    ("Users", 'emails[type eq "Work" and value eq "ada.work@shop.example"]'),
    ("Users", 'userName eq "ada@shop.example" and active eq "True"'),
    ("Users", f'{USER}:userName eq "ada@shop.example"'),
    ("Users", 'userName eq "nobody" or externalId eq "a1"'),
    ("Groups", 'displayName eq "editors"'),
    ("Groups", 'members.value eq "ADA" and displayName eq "Editors"'),
    ("Groups", 'members[value eq "ADA"]'),
    ("Groups", 'id eq "EDITORS" and members eq "ADA"'),
]


async def test_filters_find_the_one(provider: IdentityProvider) -> None:
    """Each way in which providers look for one user or group finds it, and no other."""
    emails = [
        {"value": "ada@home.example", "type": "home"},
        {"value": "Ada.Work@shop.example", "type": "work"},
    ]
    ada = await provider.user("Ada@Shop.example", externalId="a1", displayName="Ada Lovelace", emails=emails)
    told = {name: value for name, value in ada.items() if name not in {"active", "id", "meta"}}
    replaced = (await provider.call("PUT", f"/Users/{ada['id']}", told)).json()
    assert replaced.get("active") is None  # who is not said to be inactive is active
    bob = await provider.user("bob@shop.example", externalId="A1", emails=[{"value": "bob@shop.example"}])
    editors = await provider.group("Editors", ada)
    await provider.group("Everybody else", bob)
    for kind, scim_filter in FILTERS:
        asked = scim_filter.replace('ADA"', f'{ada["id"]}"').replace("EDITORS", editors["id"])
        found = (await provider.find(kind, asked)).json()
        expected = (ada if kind == "Users" else editors)["id"]
        assert [resource["id"] for resource in found["Resources"]] == [expected], scim_filter


async def test_brackets_are_about_one_address(provider: IdentityProvider) -> None:
    """What holds of two addresses together holds of none of them, however and and or are nested."""
    emails = [{"value": "ada@home.example", "type": "home"}, {"value": "ada@shop.example", "type": "work"}]
    await provider.user("ada@shop.example", emails=emails)
    for inside in (
        'type eq "work" and value eq "ada@home.example"',
        'type eq "home" and (value eq "ada@shop.example" or value eq "no@shop.example")',
        'type eq "work" and value eq "ada@home.example" or type eq "home" and value eq "ada@shop.example"',
        'type eq "home" and type eq "work"',
    ):
        assert (await provider.find("Users", f"emails[{inside}]")).json()["totalResults"] == 0, inside


async def test_other_filters_are_refused(provider: IdentityProvider) -> None:
    """What can't be searched for is an invalid filter, and not an empty answer."""
    for scim_filter in (
        'userName co "a"',
        "userName",
        'nickName eq "a"',
        'not (userName eq "a")',
        'active eq "1"',
        "title pr",
        'name.givenName eq "a"',
    ):
        answer = await provider.find("Users", scim_filter)
        assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidFilter"), scim_filter


async def test_lists_come_in_pages(provider: IdentityProvider) -> None:
    """`startIndex` counts from 1; a page may be empty, and says how many there are in all."""
    made = [(await provider.user(f"user-{number}@shop.example"))["id"] for number in range(3)]

    async def page(query: str) -> tuple[int, list[str]]:
        answer = (await provider.call("GET", f"/Users?{query}")).json()
        return answer["totalResults"], [user["id"] for user in answer.get("Resources", [])]

    assert await page("count=2") == (3, made[:2])
    assert int((await provider.call("GET", "/Users")).headers["RateLimit-Remaining"]) > 0
    assert await page("startIndex=3&count=2") == (3, made[2:])
    assert await page("startIndex=4") == (3, [])
    assert await page("count=0") == (3, [])


async def test_errors_say_what_is_wrong(provider: IdentityProvider) -> None:
    """Each has the protocol's status and `scimType`."""
    ada = await provider.user("ada@shop.example", externalId="a1")
    bob = await provider.user("bob@shop.example")
    group = await provider.group("Editors")
    path = f"/Users/{ada['id']}"
    replace = {"op": "replace", "path": "userName", "value": "BOB@shop.example"}
    told = [
        await provider.call("POST", "/Users", {"schemas": [USER], "userName": "Ada@SHOP.example"}),
        await provider.patch(bob, {"op": "add", "path": "externalId", "value": "a1"}),
        await provider.patch(ada, replace),
        await provider.call("POST", "/Groups", {"schemas": [GROUP], "displayName": "editors"}),
        await provider.patch(ada, {"op": "remove", "path": "userName"}),
        await provider.patch(ada, {"op": "replace", "path": "id", "value": "x"}),
        await provider.patch(ada, {"op": "remove"}),
        await provider.patch(ada, {"op": "replace", "path": "emails[", "value": "x"}),
        await provider.patch(group, {"op": "add", "path": "members", "value": [{"value": "nobody"}]}),
        await provider.call("POST", "/Users", {"schemas": [USER]}),
        await provider.call("POST", "/Users", {"schemas": [USER], "userName": "a\u202eb"}),
        await provider.call("PUT", path, ada, If_Match='W/"7"'),
        await provider.call("POST", "/Bulk", {}),
        await provider.call("GET", "/Users?sortBy=userName"),
    ]
    assert [(answer.status_code, answer.json().get("scimType")) for answer in told] == [
        (409, "uniqueness"),
        (409, "uniqueness"),
        (409, "uniqueness"),
        (409, "uniqueness"),
        (400, "mutability"),
        (400, "mutability"),
        (400, "noTarget"),
        (400, "invalidPath"),
        (400, "invalidValue"),
        (400, "invalidValue"),
        (400, "invalidValue"),
        (412, None),
        (501, None),
        (501, None),
    ]
    assert await provider.read(ada) == ada


async def test_bodies_have_a_limit(provider: IdentityProvider) -> None:
    """A larger one is refused, in SCIM's shape."""
    answer = await provider.call("POST", "/Users", {"userName": "x" * MAX_BODY_BYTES})
    assert (answer.status_code, answer.json()["schemas"]) == (413, [ERROR])


async def test_one_call_asks_for_bounded_work(provider: IdentityProvider) -> None:
    """Filters and paths take long to read: one of hundreds of kilobytes is refused before it is."""
    long_filter = " or ".join(['userName eq "a"'] * 6_000)
    search = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": long_filter}
    group = await provider.group("Staff")
    change = {"op": "remove", "path": "members"}
    for answer in (
        await provider.call("POST", "/Users/.search", search),
        await provider.call("POST", "/.search/", search),
        await provider.call("GET", f"/Users?filter={long_filter[:10_000]}"),
        await provider.patch(group, *[change] * 1_001),
        await provider.patch(group, change | {"path": f"members[{long_filter}]"}),
    ):
        assert (answer.status_code, "must have at most" in answer.text) == (400, True), answer.text


async def test_changes_side_by_side_all_hold(provider: IdentityProvider) -> None:
    """Two calls that add members to one group at the same time both do."""
    users = [await provider.user(f"user-{number}@shop.example") for number in range(3)]
    group = await provider.group("Editors")
    answers = await asyncio.gather(
        *(
            provider.patch(group, {"op": "add", "path": "members", "value": [{"value": user["id"]}]})
            for user in users
        )
    )
    assert {answer.status_code for answer in answers} == {204}
    stored = await provider.read(group)
    assert {member["value"] for member in stored["members"]} == {user["id"] for user in users}


async def test_what_entra_sends(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """The calls of Microsoft's documentation: attributes that are not kept, capitals, truth as text,
    a path to an address that is not there, and a removal by its value."""
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, role=Role.ANALYST)
    user = await provider.user(
        email,
        schemas=[USER, ENTERPRISE],
        externalId=secrets.token_hex(8),
        active=True,
        name={"formatted": "Ada Lovelace", "familyName": "Lovelace", "givenName": "Ada"},
        roles=[],
        title="Analyst",
        **{ENTERPRISE: {"department": "Figures"}},
    )
    work = {"op": "Add", "path": 'emails[type eq "work"].value', "value": "ada@work.example"}
    department = {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Sums"}
    names = {"op": "Replace", "value": {"displayName": "Ada L.", "name.givenName": "A."}}
    assert (await provider.patch(user, work, department, names)).is_success
    changed = await provider.read(user)
    assert changed["emails"] == [{"value": "ada@work.example", "type": "work"}]
    assert (changed["displayName"], changed["name"]["givenName"]) == ("Ada L.", "A.")
    assert (await provider.patch(user, work | {"op": "Replace", "value": "ada@new.example"})).is_success
    assert (await provider.read(user))["emails"] == [{"value": "ada@new.example", "type": "work"}]
    group = await provider.group("Editors")
    ids = [{"value": user["id"]}]
    assert (await provider.patch(group, {"op": "Add", "path": "members", "value": ids})).is_success
    assert (await account(database, email)).role_in(organization.id) is Role.EDITOR
    assert (await provider.patch(group, {"op": "Remove", "path": "members", "value": ids})).is_success
    assert (await account(database, email)).role_in(organization.id) is Role.VIEWER
    assert (await provider.patch(user, {"op": "Replace", "path": "active", "value": "False"})).is_success
    assert organization.id not in (await account(database, email)).org_ids


async def test_what_okta_sends(
    provider: IdentityProvider, database: Database, organization: TestOrganization
) -> None:
    """The calls of Okta's documentation: a user with empty groups and a password, a replacement of all that
    was read, a deactivation without a path, and the members of a group as a whole."""
    await make_user(database, organization.id)
    email = await make_user(database, organization.id, role=Role.ANALYST)
    fields: dict[str, Any] = {
        "name": {"givenName": "Ada", "familyName": "Lovelace"},
        "emails": [{"primary": True, "value": email, "type": "work"}],
        "displayName": "Ada Lovelace",
        "locale": "en-US",
        "externalId": secrets.token_hex(8),
        "groups": [],
        "password": "1mz050nq",
        "active": True,
    }
    user = await provider.user(email, **fields)
    body = user | {"displayName": "Ada", "locale": "de-DE"}
    replaced = await provider.call("PUT", f"/Users/{user['id']}", body)
    assert (replaced.status_code, replaced.json()["displayName"]) == (200, "Ada")
    group = await provider.group("Editors")
    whole = [{"value": user["id"], "display": email}]
    rename = {"op": "replace", "value": {"id": group["id"], "displayName": "Editors"}}
    assert (await provider.patch(group, rename)).is_success
    assert (await provider.patch(group, {"op": "replace", "path": "members", "value": whole})).is_success
    assert (await account(database, email)).role_in(organization.id) is Role.EDITOR
    gone = {"op": "remove", "path": f'members[value eq "{user["id"]}"]'}
    assert (await provider.patch(group, gone)).is_success
    assert (await provider.patch(user, {"op": "replace", "value": {"active": False}})).is_success
    assert organization.id not in (await account(database, email)).org_ids
