"""Keys: made and shown once, listed without their secrets, revoked."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest

from backend.domain.accounts.api_keys import KeyKind, hash_key
from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import Permission
from backend.storage.accounts.api_keys import find_active_key, list_api_keys
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag
from backend.system.clock import utc_now
from tests.api.link_calls import API, create
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person
from tests.facts.organizations import KINDS, TestOrganization


@pytest.mark.parametrize("kind", KINDS)
async def test_a_key_is_shown_once(
    person: Person, organization: TestOrganization, database: Database, kind: KeyKind
) -> None:
    """The page after making it has the key, and no page after that one, unless the key is public."""
    made = await person.send("/keys", "/keys", kind=kind.value)
    shown = re.search(r'<code class="secret">([^<]+)</code>', made.text)
    assert shown
    assert shown[1].startswith(kind.prefix)
    key = await find_active_key(database, hash_key(shown[1]), utc_now())
    assert key is not None
    assert (key.org_id, key.kind) == (organization.id, kind)
    later = (await person.get("/keys")).text
    assert (shown[1] in later) is (kind is KeyKind.WEB)
    assert key.hint in later


async def test_a_mobile_key_that_makes_links(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """It is made with a domain of the organization's and with addresses, or not at all."""
    refused = await person.send("/keys", "/keys", kind="mobile", domain="", destinations="shop.example/in/*")
    assert refused.status_code == 422
    other = await person.send("/keys", "/keys", kind="mobile", domain="go.other.example", destinations="a.b")
    assert "must be one of the organization&#39;s" in other.text
    before = await list_api_keys(database, organization.id)
    domain = organization.domain
    made = await person.send("/keys", "/keys", kind="mobile", domain=domain, destinations="shop.example/in/*")
    assert f"makes links on {domain}" in made.text
    [*others, key] = await list_api_keys(database, organization.id)
    assert others == before
    assert key.links == LinkGrant(domain, ("https://shop.example/in/*",))


async def test_a_key_that_is_limited_to_links(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """It is made with what the form names, one in a line, links by their short URLs; the list says what."""
    await create_tag(database, organization.id, "agency", None, utc_now())
    short_url = await create(client, organization)
    limit = {"limit_tags": "Agency", "limit_domains": organization.domain, "limit_links": short_url}
    fields = {"kind": "rest", "scope:links:read": "on"}
    made = await person.send("/keys", "/keys", **fields, **limit)
    assert f"only tag agency; domain {organization.domain}; link {short_url}" in made.text
    *_, key = await list_api_keys(database, organization.id)
    assert key.limited_to is not None
    assert (len(key.limited_to.tags or ()), len(key.limited_to.links or ())) == (1, 1)
    for wrong, sentence in (
        (fields | {"limit_tags": "nobody&#39;s"}, "must be the organization"),
        (fields | {"limit_links": f"{short_url}-not"}, "must be the organization"),
        (fields | {"limit_domains": "not a host"}, "must be a host name"),
        ({"kind": "rest"} | limit, "must be some of links:read, links:write, analytics:read"),
    ):
        refused = await person.send("/keys", "/keys", **wrong)
        assert refused.status_code == 422
        assert sentence in refused.text


async def test_a_rest_key_works(person: Person, client: httpx.AsyncClient) -> None:
    """A key that the dashboard made is accepted by the API."""
    made = await person.send("/keys", "/keys", kind="rest")
    key = made.text.partition('<code class="secret">')[2].partition("<")[0]
    assert (await client.get(f"{API}/links/page", headers={"API-KEY": key})).status_code == 200


@pytest.mark.parametrize("kind", ["", "admin", "REST"])
async def test_another_kind_of_key(
    person: Person, organization: TestOrganization, database: Database, kind: str
) -> None:
    """There are three kinds; a form that asks for another makes none."""
    before = await list_api_keys(database, organization.id)
    assert (await person.send("/keys", "/keys", kind=kind)).status_code == 400
    assert await list_api_keys(database, organization.id) == before


async def test_a_key_is_revoked(person: Person, organization: TestOrganization, database: Database) -> None:
    """It is refused afterwards, and the list says since when; its button is gone."""
    key = (await list_api_keys(database, organization.id))[0]
    revoke = f"/keys/{key.id}/revoke"
    answer = await person.send("/keys", revoke)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/keys?notice=key-revoked")
    assert await find_active_key(database, key.key_hash, utc_now()) is None
    page = (await person.get("/keys")).text
    assert "Revoked " in page
    assert revoke not in page


async def test_keys_of_another_organization(
    person: Person, make_organization: OrganizationFactory, database: Database
) -> None:
    """They are neither listed nor revoked."""
    other = await make_organization()
    theirs = (await list_api_keys(database, other.id))[0]
    assert theirs.hint not in (await person.get("/keys")).text
    answer = await person.client.post(f"/keys/{theirs.id}/revoke", data=await person.token())
    assert answer.status_code == 404
    assert await find_active_key(database, theirs.key_hash, utc_now()) is not None


async def test_a_key_with_a_name_scopes_and_an_end(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """The list shows what was chosen; what can't be is said beside its field, and what was typed stays."""
    fields = {"kind": "rest", "name-rest": "Warehouse", "scope:links:read": "on"}
    past = await person.send("/keys", "/keys", **fields, **{"expires_at-rest": "2020-01-01"})
    assert (past.status_code, "must be in the future" in past.text) == (422, True)
    assert 'value="Warehouse"' in past.text
    made = await person.send("/keys", "/keys", **fields, **{"expires_at-rest": "2099-01-01"})
    assert "Warehouse" in made.text
    assert "until 1 Jan 2099" in made.text
    key = (await list_api_keys(database, organization.id))[-1]
    assert (key.name, key.scopes) == ("Warehouse", (Permission.LINKS_READ,))


async def test_a_key_is_replaced(person: Person, organization: TestOrganization, database: Database) -> None:
    """The new one is shown once; the old one works on until the hour that was chosen, and goes only once."""
    key = (await list_api_keys(database, organization.id))[0]
    made = await person.send("/keys", f"/keys/{key.id}/rotate", overlap="168")
    shown = re.search(r'<code class="secret">([^<]+)</code>', made.text)
    assert shown
    assert "Replaced</span>" in made.text
    now = utc_now()
    for text_hash in (hash_key(shown[1]), key.key_hash):
        assert await find_active_key(database, text_hash, now) is not None
    assert await find_active_key(database, key.key_hash, now + timedelta(days=7, seconds=1)) is None
    assert f"/keys/{key.id}/rotate" not in made.text
    fields = await person.token() | {"overlap": "24"}
    again = await person.client.post(f"/keys/{key.id}/rotate", data=fields)
    assert (again.status_code, "replaced already" in again.text) == (422, True)
