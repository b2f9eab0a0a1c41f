"""Settings of link domains over REST."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.storage.accounts.domain_owners import DomainOwners
from backend.web.current import Resources
from tests.api.link_calls import API, link_body
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

NOTHING_SET = {
    "root_url": None,
    "not_found_url": None,
    "brand": dict.fromkeys(("name", "logo_url", "favicon_url", "color", "background")),
    "texts": {},
    "robots_txt": None,
    "forwards_path": False,
    "ignores_case": True,
}
FLAGS = {"forwards_path": False, "ignores_case": True}
PROVED = {"is_proved": True, "proof": None}


async def patch(
    client: httpx.AsyncClient, of: TestOrganization, body: Any, name: str | None = None
) -> httpx.Response:
    """A change of the organization's domain, or of another one."""
    path = f"{API}/domains/{name or of.domain}"
    return await client.patch(path, json=body, headers=of.headers)


async def test_each_field_is_changed_and_cleared(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Alone: of a brand only what the body names, and of the rest nothing else."""
    organization = await make_organization()
    listed = await client.get(f"{API}/domains", headers=organization.headers)
    nothing = {"name": organization.domain} | NOTHING_SET | PROVED
    assert listed.json() == {"domains": [nothing]}
    texts = {"de": {"not_found": {"title": "Nichts da", "text": "Hier ist nichts."}}}
    set_fields: dict[str, Any] = {
        "root_url": "https://shop.example/",
        "not_found_url": "https://shop.example/help",
        "texts": texts,
        "robots_txt": "User-agent: *\nDisallow:\n",
        "forwards_path": True,
        "ignores_case": False,
    }
    changed = await patch(client, organization, set_fields | {"brand": {"name": "Shop", "color": "#abc"}})
    assert changed.status_code == 200, changed.text
    changed = await patch(client, organization, {"brand": {"name": "Kites", "background": "#fff"}})
    brand = nothing["brand"] | {"name": "Kites", "color": "#aabbcc", "background": "#ffffff"}  # type: ignore[operator]
    assert changed.json() == nothing | set_fields | {"brand": brand}
    assert (await patch(client, organization, {})).json() == changed.json()
    cleared = await patch(client, organization, {"brand": {"color": None}, "root_url": "", "texts": {}})
    now = nothing | set_fields | {"brand": brand | {"color": None}, "root_url": None, "texts": {}}
    assert cleared.json() == now
    cleared = await patch(client, organization, dict.fromkeys(NOTHING_SET) | FLAGS)
    assert cleared.json() == nothing
    assert (await client.get(f"{API}/domains", headers=organization.headers)).json() == {"domains": [nothing]}


async def test_of_another_organization_is_unknown(
    client: httpx.AsyncClient, organization: TestOrganization, make_organization: OrganizationFactory
) -> None:
    """Its domain is not found, is not listed, and does not change."""
    other = await make_organization()
    refused = await patch(client, organization, {"brand": {"name": "Mine"}}, other.domain)
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (404, "DOMAIN_NOT_FOUND")
    listed = (await client.get(f"{API}/domains", headers=other.headers)).json()
    assert listed == {"domains": [{"name": other.domain} | NOTHING_SET | PROVED]}


async def test_addresses_are_checked_as_destinations_are(
    client: httpx.AsyncClient,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
    service: Any,
) -> None:
    """By the organization's rules, by the operator's block list, and against circles."""
    organization, other = await make_organization(), await make_organization()
    rules = {"refused": ["elsewhere.example"]}
    await client.patch(f"{API}/destination-rules", json=rules, headers=organization.headers)
    refused = await patch(client, organization, {"root_url": "https://elsewhere.example/"})
    assert "root_url must not lead to elsewhere.example" in refused.text
    for host in (organization.domain, other.domain):
        refused = await patch(client, organization, {"not_found_url": f"https://{host}/x", "root_url": "x"})
        assert refused.status_code == 400
        assert "root_url must be an absolute" in refused.text
        refused = await patch(client, organization, {"not_found_url": f"https://{host}/x"})
        assert "not_found_url must not lead to a link domain of this service" in refused.text
    resources: Resources = service.resources
    monkeypatch.setattr(resources.block_list, "current", AddressPatterns.of(["evil.example"]))
    body = {
        "root_url": "https://evil.example/",
        "not_found_url": "https://sub.evil.example/",
        "brand": {"logo_url": "https://evil.example/logo.png"},
    }
    refused = await patch(client, organization, body)
    fields = [error["fieldName"] for error in refused.json()["errors"]]
    assert fields == ["root_url", "not_found_url", "brand.logo_url"], refused.text


async def test_new_links_of_a_domain_pass_on_what_follows_their_path(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the domain says so and they don't, however they are made; links of before and copies stay."""
    monkeypatch.setattr(DomainOwners, "LIFETIME", 0.0)
    organization = await make_organization()
    headers = organization.headers
    bulk = {"op": "create", "link": link_body(organization)}

    async def made(path: str, **fields: Any) -> bool:
        answer = await client.post(f"{API}{path}", json=link_body(organization) | fields, headers=headers)
        assert answer.status_code == 201, answer.text
        link_id = answer.json()["id"]
        link = (await client.get(f"{API}/links/{link_id}", headers=headers)).json()
        return bool(link["forwards_path"])

    before = (await client.post(f"{API}/links", json=link_body(organization), headers=headers)).json()
    assert before["forwards_path"] is False
    await patch(client, organization, {"forwards_path": True})
    assert await made("/links")
    assert not await made("/links", forwards_path=False)
    assert await made("/links", destination_url="https://shop.example/{path}/x")
    in_bulk = await client.post(f"{API}/links/bulk", json={"operations": [bulk]}, headers=headers)
    [result] = in_bulk.json()["results"]
    assert (await client.get(f"{API}/links/{result['id']}", headers=headers)).json()["forwards_path"]
    copy = await client.post(f"{API}/links/{before['id']}/duplicate", json={}, headers=headers)
    assert (copy.status_code, copy.json()["forwards_path"]) == (201, False)
    await patch(client, organization, {"forwards_path": False})
    assert not await made("/links")
