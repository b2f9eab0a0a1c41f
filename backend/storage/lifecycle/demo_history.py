"""Stores and finds the history that is made up for a demo, in an organization of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backend.domain.feed.facts import tag_fact
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.domain.links.tags import Tag
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.links import links, tags
from backend.storage.links.feed_facts import created_fact
from backend.storage.outbox import entries

MARK = "demo-history-"  # the `external_id` of the history's links begins so


def log_id(org_id: OrgId) -> str:
    """The id of the click log of the history's clicks. Its positions are hours since its start."""
    return f"{MARK}{org_id}"


async def find_history_links(database: Database, org_id: OrgId) -> list[Link]:
    """The links of the organization's demo history."""
    marked = {"org_id": org_id, "external_id": {"$regex": f"^{re.escape(MARK)}"}}
    return await links.find_all(database, None, marked)


async def insert_history_links(database: Database, made: Sequence[Link], new_tags: Sequence[Tag]) -> None:
    """Store the links of a demo history and the new tags, in one transaction."""

    async def work(session: ClientSession) -> None:
        if new_tags:
            await unrecorded(database)[tags.NAME].insert_many(
                map(tags.to_document, new_tags), session=session
            )
        await database[links.NAME].insert_many(map(links.to_document, made), session=session)
        facts = [*(tag_fact(tag.id, tag.name) for tag in new_tags)]
        facts += (created_fact(link, link.created_at) for link in made)
        await entries.note(database, session, {made[0].org_id: facts})

    await in_transaction(database, work)
