"""Every way in by which somebody's e-mail address comes: one rule for all."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.single_sign_on.provided_person import check_address, provided_person
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.storage.accounts.directory.people import list_people
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.scim_api.identity_provider import USER, connect

BAD = (
    "a@x.test\x00", "a\u200b@x.test", "a@x\u202e.test", "a..b@x.test", ".a@x.test", "=?utf-8?q?x?=@x.test",
    "müller@x.test", "a@x", "a@192.0.2.1",
)  # fmt: skip
DOMAIN = "xn--mller-kva.example"
NORMAL = f"ada@{DOMAIN}"
SPELLINGS = ("Ada@Müller.example", NORMAL)


def provider_for(*domains: str) -> IdentityProvider:
    """A provider of which the owner lets in these domains."""
    return IdentityProvider("https://id.example", "client", "secret", domains, vouches_for_emails=True)


@pytest.mark.parametrize("address", BAD)
async def test_over_http(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, address: str
) -> None:
    """REST's invitations, alerts and readers of reports, and SCIM refuse it, and name the field."""
    key = await make_scoped_key(database, organization)
    bodies: dict[str, dict[str, Any]] = {
        "member-invitations": {"email": address, "role": "viewer"},
        "alert-rules": {"name": "Clicks", "kind": "spike", "mail_to": [address]},
        "report-recipients": {"report_id": organization.id, "address": address, "frequency": "weekly"},
    }
    for path, body in bodies.items():
        answer = await client.post(f"{API}/{path}", json=body, headers={"API-KEY": key})
        fields = [error["fieldName"] for error in answer.json()["errors"]]
        named = {"email", "mail_to", "address"} & body.keys()
        assert (answer.status_code, fields) == (400, list(named)), answer.text
    provider = await connect(client, database, organization.id)
    told = {"schemas": [USER], "userName": "ada", "emails": [{"value": address}]}
    answer = await provider.call("POST", "/Users", told)
    assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidValue")
    assert answer.json()["detail"].startswith("emails.value must")


@pytest.mark.parametrize("address", BAD)
async def test_in_the_dashboard(
    service: Service, database: Database, organization: TestOrganization, address: str
) -> None:
    """An owner who invites it is asked for another."""
    async with browser(service) as client:
        owner = Person(client, await make_user(database, organization.id))
        await open_session(database, owner)
        invited = await owner.send("/members", "/members/invitations", email=address, role="viewer")
    assert (invited.status_code, "/join/" in invited.text) == (422, False)


@pytest.mark.parametrize("address", BAD)
def test_of_a_provider(address: str) -> None:
    """Nobody comes in with it by single sign-on; the owner reads what is wrong with it."""
    person = provided_person("https://id.example", {"sub": "1", "email": address}, "groups")
    with pytest.raises(SignInRefused, match="email must") as refused:
        check_address(provider_for(), person)
    assert refused.value.refusal is Refusal.NO_EMAIL


async def test_two_spellings_are_one_address(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Invited twice, somebody has one invitation; a provider finds a person by either, and a list of domains
    has both."""
    key = await make_scoped_key(database, organization)
    provider = await connect(client, database, organization.id)
    await provider.user("ada", emails=[{"value": SPELLINGS[0]}])
    for spelling in SPELLINGS:
        body = {"email": spelling, "role": "viewer"}
        made = await client.post(f"{API}/member-invitations", json=body, headers={"API-KEY": key})
        assert made.json()["email"] == NORMAL
        found = await provider.find("Users", f'emails.value eq "{spelling}"')
        assert found.json()["totalResults"] == 1
        assert found.json()["Resources"][0]["emails"][0]["value"] == SPELLINGS[0]
        person = provided_person("https://id.example", {"sub": "1", "email": spelling}, "groups")
        assert person.email == NORMAL
        check_address(
            IdentityProvider(
                "https://id.example", "c", "s", ("xn--mller-kva.example",), vouches_for_emails=True
            ),
            person,
        )
    open_ones = await client.get(f"{API}/member-invitations", headers={"API-KEY": key})
    assert [invitation["email"] for invitation in open_ones.json()["invitations"]] == [NORMAL]
    assert [person.email for person in await list_people(database, organization.id)] == [NORMAL]
