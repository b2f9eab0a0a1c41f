"""Provisioning: a token is made and shown once, shows its use, and is revoked; groups show their roles."""

from __future__ import annotations

import re

import httpx

from backend.domain.accounts.roles import Role
from backend.storage.driver.mongo import Database
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.scim_api.identity_provider import IdentityProvider, connect


async def test_a_token_is_shown_once_and_can_be_revoked(person: Person, client: httpx.AsyncClient) -> None:
    """The page after making it has it; the provider calls with it until it is revoked."""
    made = await person.send("/provisioning", "/provisioning/tokens", name="Entra ID")
    [token] = re.findall(r'<code class="secret">(c_scim_[^<]+)</code>', made.text)
    provider = IdentityProvider(client, token)
    assert "Never" in (await person.get("/provisioning")).text
    assert (await provider.call("GET", "/Users")).status_code == 200
    page = (await person.get("/provisioning")).text
    assert token not in page
    assert "Entra ID" in page
    assert "Never" not in page
    [path] = re.findall(r'action="(/provisioning/tokens/[^"]+/revoke)"', page)
    assert (await person.send("/provisioning", path)).status_code == 303
    assert "Revoked" in (await person.get("/provisioning")).text


async def test_a_wrong_end_is_refused(person: Person) -> None:
    """A token that would be over is not made, and the field says why."""
    answer = await person.send("/provisioning", "/provisioning/tokens", expires_at="2020-01-01")
    assert answer.status_code == 422
    assert "must be in the future" in answer.text


async def test_groups_show_what_they_give(
    person: Person, client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Each with the number of its people and its role, and people by whether they have come."""
    provider = await connect(client, database, organization.id, Editors=Role.EDITOR)
    known, waiting = await provider.user(person.email), await provider.user("grace@elsewhere.example")
    await provider.group("Editors", waiting)
    await provider.group("Others", known, waiting)
    page = re.sub(r"<[^>]+>|\s+", " ", (await person.get("/provisioning")).text)
    for words in (r"Editors +1 +Editor", r"Others +2 +none", r"Told +2", r"Have not come yet +1"):
        assert re.search(words, page), words
    members = (await person.get("/members")).text
    assert "grace@elsewhere.example" in members
    assert "Provisioned" in members
