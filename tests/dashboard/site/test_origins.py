"""Allowed origins, and the calls that were refused."""

from __future__ import annotations

from html import unescape

import pytest

from backend.domain.ids import OrgId
from backend.storage.accounts.origin_refusals import OriginRefusal, add_origin_refusal
from backend.storage.accounts.origins import list_origins
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


async def refuse(database: Database, org_id: OrgId, origin: str) -> None:
    """A call from this origin was refused just now."""
    await add_origin_refusal(database, org_id, OriginRefusal(origin, "not an Allowed Web Origin", utc_now()))


async def test_an_origin_is_allowed_and_removed(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """It is stored as browsers send it; removing it leaves the others."""
    answer = await person.send("/origins", "/origins", origin=" HTTPS://Shop.example:443/ ")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/origins?notice=origin-allowed")
    assert "https://shop.example" in await list_origins(database, organization.id)
    await person.send("/origins", "/origins/remove", origin="https://shop.example")
    assert await list_origins(database, organization.id) == [organization.origin]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Allow an origin must look like https://shop.com or https://*.shop.com."),
        ("shop.com", "must look like https://shop.com"),
        ("ftp://shop.com", "must look like https://shop.com"),
        ("https://shop.com/path", "must have no path, query, fragment or user name"),
        ("https://a_b.com", "must be a host name"),
        ("https://shop.com:99999", "the port of an origin must be from 1 to 65535"),
        ("https://[", "must look like https://shop.com"),
        ("null", "must look like https://shop.com"),
    ],
)
async def test_what_is_no_origin(
    person: Person, organization: TestOrganization, database: Database, text: str, sentence: str
) -> None:
    """The form comes again with the text and the rule that it breaks; nothing is allowed."""
    answer = await person.send("/origins", "/origins", origin=text)
    assert answer.status_code == 422
    assert sentence in unescape(answer.text)
    assert await list_origins(database, organization.id) == [organization.origin]


async def test_refusals_by_origin(
    person: Person, organization: TestOrganization, database: Database, make_organization: OrganizationFactory
) -> None:
    """Each origin has a row with its requests; another organization's refusals are not there."""
    other = await make_organization()
    await refuse(database, other.id, "https://secret.example")
    for origin in ("https://new.example", "", "https://new.example", "<script>alert(1)</script>"):
        await refuse(database, organization.id, origin)
    page = (await person.get("/origins")).text
    assert page.count("<code>https://new.example</code>") == 1
    assert '<td class="number" data-label="Requests">2</td>' in page
    assert "secret.example" not in page
    assert "<script>alert" not in page


async def test_a_refused_origin_is_allowed_with_one_button(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """The button is there for what is an origin and is not allowed yet, and for nothing else."""
    for origin in ("https://new.example", "null", "", organization.origin, "https://x.example/path"):
        await refuse(database, organization.id, origin)
    page = (await person.get("/origins")).text
    assert page.count('<span class="unseen"> https://new.example</span>') == 1
    assert page.count(">Allow<span") == 1
    await person.send("/origins", "/origins", origin="https://new.example")
    assert ">Allow<span" not in (await person.get("/origins")).text


async def test_removing_what_is_not_allowed(
    person: Person, make_organization: OrganizationFactory, database: Database
) -> None:
    """Another organization's origin is as unknown as one that nobody allows."""
    other = await make_organization()
    for origin in (other.origin, "https://nobody.example"):
        assert (await person.send("/origins", "/origins/remove", origin=origin)).status_code == 404
    assert await list_origins(database, other.id) == [other.origin]
