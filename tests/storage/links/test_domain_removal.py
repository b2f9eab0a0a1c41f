"""A domain that is being removed, and links that are made meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import httpx
import pytest

from backend.domain.ids import LinkId
from backend.domain.links.input import parse_new_link
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import CreateLink, LinkRequest
from backend.storage.accounts import domains
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.domains import DomainInUse, DomainOwner, insert_domain, set_leaving
from backend.storage.driver import mongo
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.links import count_links
from backend.storage.links.writing import writes as link_writes
from backend.storage.links.writing.domain_removal import remove_domain
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, link_body
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.polling import wait_for_async


async def is_leaving(database: Database, domain: str) -> bool:
    """Whether the domain is marked as being removed."""
    return bool(await database[domains.NAME].find_one({"_id": domain, "is_leaving": True}))


async def test_a_link_that_was_under_way_keeps_the_domain(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """A link that is stored after the first look is found by the second one; the domain takes links again."""
    removing = asyncio.create_task(remove_domain(database, organization.domain, organization.id))
    await wait_for_async(lambda: is_leaving(database, organization.domain), "the domain is being removed")
    link = Link(
        LinkId("1"), organization.id, organization.domain, "a", "https://a.example", "a", utc_now(), utc_now()
    )
    await insert_links(database, [link])
    with pytest.raises(DomainInUse):
        await removing
    assert not await is_leaving(database, organization.domain)
    await create(client, organization)


class SlowOwners(DomainOwners):
    """Those of a process that stops for a moment when it has looked whose a domain is."""

    async def find(self, hosts: Iterable[str]) -> dict[str, DomainOwner]:
        """The owners, when it goes on."""
        owners = await super().find(hosts)
        await asyncio.sleep(0.5)
        return owners


async def test_a_link_that_comes_too_late(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not stored: the domain may be another organization's by then."""
    monkeypatch.setattr(mongo, "TRANSACTION_SECONDS", 0.4)
    create = CreateLink(parse_new_link(link_body(organization)))
    request = LinkRequest(organization.id, CreatedBy.REST, utc_now(), create)
    with pytest.raises(StorageError):
        await link_writes.write_links(
            database, [link_writes.Submission([request])], DestinationPolicies(database), SlowOwners(database)
        )
    assert await count_links(database, organization.id) == 0


async def test_a_removal_that_was_interrupted(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """The domain takes no links, until it is added again."""
    await set_leaving(database, organization.domain, organization.id, is_leaving=True)
    answer = await client.post(
        f"{API}/create-link", json=link_body(organization), headers=organization.headers
    )
    assert answer.status_code == 400
    assert "domain is not configured for the organization" in answer.text
    await insert_domain(database, organization.domain, organization.id, utc_now())

    async def status() -> int:
        body = link_body(organization)
        return (await client.post(f"{API}/create-link", json=body, headers=organization.headers)).status_code

    await wait_for_async(status, "the domain takes links again", lambda code: code == 201)
