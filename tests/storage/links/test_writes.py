"""Links that two requests write at once."""

from __future__ import annotations

import asyncio
from functools import partial

from backend.domain.links.input import CHANGE_FIELDS, parse_changes, parse_new_link
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ChangeLink, CreateLink, LinkOperation, LinkRequest, PathTaken
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.links import find_link
from backend.storage.links.tags import create_tag
from backend.storage.links.writing.writes import store_link
from backend.system.clock import utc_now
from tests.api.link_calls import link_body
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization


async def store(database: Database, organization: TestOrganization, operation: LinkOperation) -> Link:
    """Carry out an operation of the organization."""
    request = LinkRequest(organization.id, CreatedBy.REST, utc_now(), operation)
    return await store_link(database, request, DestinationPolicies(database))


async def test_a_link_is_changed_between_two_steps_of_another_change(
    organization: TestOrganization, database: Database
) -> None:
    """It has the tags of both."""
    for name in ("red", "blue"):
        await create_tag(database, organization.id, name, None, utc_now())
    async for moment in moments(database):
        link = await store(database, organization, CreateLink(parse_new_link(link_body(organization))))
        red, blue = (parse_changes({"add_tags": [name]}, CHANGE_FIELDS) for name in ("red", "blue"))
        await moment.interrupt(
            store(moment.database, organization, ChangeLink(link.id, red)),
            partial(store, database, organization, ChangeLink(link.id, blue)),
        )
        changed = await find_link(database, link.id, organization.id)
        assert changed
        assert len(changed.tag_ids) == 1 + moment.came


async def test_a_path_is_taken_between_two_steps_of_making_a_link(
    organization: TestOrganization, database: Database
) -> None:
    """One of both links has it."""
    async for moment in moments(database):
        body = link_body(organization, selected_path=f"sale-{moment.number}")
        make = partial(store, organization=organization, operation=CreateLink(parse_new_link(body)))
        (refusal,) = await asyncio.gather(
            moment.interrupt(make(moment.database), partial(make, database)), return_exceptions=True
        )
        assert isinstance(refusal, PathTaken) == moment.came
        assert await database["links"].count_documents({"path": body["selected_path"]}) == 1
