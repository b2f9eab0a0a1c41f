"""Domains that servers add and remove over REST."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from backend.app import Service
from backend.rest_api.domains import own_domains
from backend.storage.accounts.domains import insert_domain
from backend.system.clock import utc_now
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
    assert (await client.post(f"{API}/domains", json={"name": name}, headers=other.headers)).is_success
    theirs = await client.post(f"{one}/check", headers=other.headers)
    assert theirs.status_code == 400
    message = "name belongs to another organization of this service already"
    assert theirs.json()["error"]["errorMessage"] == message
    monkeypatch.setattr(own_domains, "_LOOK_SECONDS", 0)
    assert (await client.post(f"{one}/check", headers=headers)).json() == checked
    assert (await client.delete(one, headers=headers)).status_code == 204
    assert (await client.delete(one, headers=headers)).status_code == 404


async def test_nobody_is_told_whose_a_domain_is(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    service: Service,
    zone: Zone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A domain that another organization has is answered as one that nobody has, whatever is asked, until its
    record is found."""
    monkeypatch.setattr(service.resources.names, "servers", (zone.address,))
    other = await make_organization()
    owned = organization.domain.replace("localhost", "example")
    await insert_domain(service.resources.database, owned, organization.id, utc_now())
    told = []
    for name in (owned, owned.replace(".example", "-free.example")):  # sorted alike in lists
        one = f"{API}/domains/{name}"
        answers = [
            await client.request(method, path, json=body, headers=other.headers)
            for method, path, body in (
                ("POST", f"{API}/domains", {"name": name}),
                ("POST", f"{API}/domains", {"name": name}),
                ("POST", f"{one}/check", None),
                ("GET", f"{API}/domains", None),
                ("PATCH", one, {}),
                ("DELETE", one, None),
                ("DELETE", one, None),
                ("POST", f"{one}/check", None),
                ("POST", f"{API}/links", {"domain": name, "destination_url": "https://shop.example/"}),
            )
        ]
        proof = answers[0].json()["proof"]["value"]
        told.append([(answer.status_code, _blurred(answer.text, name, proof)) for answer in answers])
    assert told[0] == told[1]
    assert [status for status, _ in told[0]] == [201, 201, 200, 200, 404, 204, 404, 404, 400]


def _blurred(text: str, name: str, proof: str) -> str:
    """An answer without what differs for each name, and each moment."""
    plain = text.replace(name, "NAME").replace(proof, "PROOF")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", plain)


async def test_a_domain_with_links_stays(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """It can't be removed before they are gone for good."""
    await create(client, organization)
    answer = await client.delete(f"{API}/domains/{organization.domain}", headers=organization.headers)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (409, "DOMAIN_IN_USE")
