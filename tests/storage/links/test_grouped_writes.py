"""How much of a group a link takes, by what its transaction has to look up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import NEW_LINK_FIELDS, NewLink, parse_new_link
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import (
    ArchiveLink,
    ChangeLink,
    CreateLink,
    LinkOperation,
    LinkRequest,
    UpsertLink,
)
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.grouped_writes import LinkWrites
from backend.storage.links.writing.writes import Submission
from backend.system.clock import utc_now

LINK_ID = LinkId("a")


def new_link(targets: int) -> NewLink:
    """A link whose rules lead to so many addresses."""
    rules = [{"then": {"destination_url": f"https://go.shop.example/{number}"}} for number in range(targets)]
    body: dict[str, Any] = {
        "domain": "go.shop.example",
        "destination_url": "https://shop.example/",
        "link_name": "A",
    }
    return parse_new_link(body | ({"rules": rules} if rules else {}), NEW_LINK_FIELDS)


@pytest.mark.parametrize(
    ("operation", "least", "most"),
    [
        (CreateLink(new_link(0)), 1, 1),
        (CreateLink(new_link(40)), 20, 40),
        (UpsertLink(new_link(0)), 5, 20),
        (CreateLink(new_link(0), copy_of=LINK_ID), 5, 20),
        (ChangeLink(LINK_ID, {"link_name": "B"}), 1, 1),
        (ChangeLink(LINK_ID, {"destination_url": "https://shop.example/b"}), 5, 20),
        (ArchiveLink(LINK_ID), 1, 1),
    ],
)
async def test_what_looks_much_up_takes_much_of_a_group(
    database: Database, operation: LinkOperation, least: int, most: int
) -> None:
    """Others wait for a group to its end, so that few of those with many rules are in one."""
    writes = LinkWrites(database, DestinationPolicies(database), DomainOwners(database))
    request = LinkRequest(OrgId("o"), CreatedBy.REST, utc_now(), operation)
    size = writes._size_of(Submission([request]))
    assert least <= size <= most
    assert writes._size_of(Submission([request, replace(request)])) == 2 * size
