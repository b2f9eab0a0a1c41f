"""Domains that servers add and remove over REST."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from backend.app import Service
from backend.rest_api.domains import own_domains
from tests.api.link_calls import API, create
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.processes.dns_server import Zone, dns_server


@pytest.fixture(scope="module")
def zone() -> Iterator[Zone]:
    """The DNS server of this file."""
    with dns_server() as zone:
        yield zone


async def test_a_domain_from_its_claim_to_its_end(
    client: httpx.AsyncClient,
    service: Service,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    zone: Zone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is listed with the record that proves it, is of use once a check has found that, and is removed.

    A check that takes too long is answered as the one before.
    """
    monkeypatch.setattr(service.resources.names, "servers", (zone.address,))
    headers, name = organization.headers, organization.domain.replace("localhost", "example")
    one = f"{API}/domains/{name}"
    claimed = await client.post(f"{API}/domains", json={"name": name.upper()}, headers=headers)
    assert (claimed.status_code, claimed.json()["is_proved"]) == (201, False)
    record = claimed.json()["proof"]
    assert (record["type"], record["name"]) == ("TXT", f"_waylink.{name}")
    listed = (await client.get(f"{API}/domains", headers=headers)).json()["domains"]
    assert [(domain["name"], domain["is_proved"]) for domain in listed] == [
        (name, False),
        (organization.domain, True),
    ]
    assert (await client.patch(one, json={}, headers=headers)).status_code == 404
    other = await make_organization()
    for method, path in (("POST", f"{one}/check"), ("DELETE", one)):
        assert (await client.request(method, path, headers=other.headers)).status_code == 404
    rival = await client.post(f"{API}/domains", json={"name": name}, headers=other.headers)
    for proof in (record, rival.json()["proof"]):
        zone.enter(proof["name"], "TXT", proof["value"])
    checked = (await client.post(f"{one}/check", headers=headers)).json()
    assert (checked["state"], checked["proof"]) == ("unfinished", None)
    assert {step["step"]: step["state"] for step in checked["steps"]} == {
        "ownership": "done",
        "dns": "to_do",
        "certificate": "waits",
        "answers": "waits",
        "apps": "optional",
        "links": "waits",
    }
    again = await client.post(f"{API}/domains", json={"name": name}, headers=headers)
    assert (again.status_code, again.json()["proof"]) == (200, None)
    for path, body in ((f"{API}/domains", {"name": name}), (f"{one}/check", None)):
        theirs = await client.post(path, json=body, headers=other.headers)
        assert theirs.status_code == 400
        message = "name belongs to another organization of this service already"
        assert theirs.json()["error"]["errorMessage"] == message
    monkeypatch.setattr(own_domains, "_LOOK_SECONDS", 0)
    assert (await client.post(f"{one}/check", headers=headers)).json() == checked
    assert (await client.delete(one, headers=headers)).status_code == 204
    assert (await client.delete(one, headers=headers)).status_code == 404


async def test_a_domain_with_links_stays(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """It can't be removed before they are gone for good."""
    await create(client, organization)
    answer = await client.delete(f"{API}/domains/{organization.domain}", headers=organization.headers)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (409, "DOMAIN_IN_USE")
