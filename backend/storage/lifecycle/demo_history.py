"""Finds, stores and removes history that was made up for a demo.

It is known by its marks: the `external_id` of its links begins with MARK, and the ids of its tags, devices
and calls begin with its run.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.errors import OperatorError
from backend.domain.feed.facts import anew_fact, tag_fact
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.domain.links.tags import Tag
from backend.storage.accounts.domains import DomainInUse
from backend.storage.clicks import logs as click_logs
from backend.storage.clicks.logs import LogHead, find_head
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.lifecycle.demo_clicks import are_added_up, remove_clicks
from backend.storage.lifecycle.purge import delete_counts, delete_told
from backend.storage.links import links, tags
from backend.storage.links.feed_facts import created_fact
from backend.storage.links.purged import add_purged_link
from backend.storage.links.writing.domain_removal import NotItsDomain, remove_domain
from backend.storage.outbox import entries
from backend.storage.sales import conversions, leads
from backend.storage.visitors import calls, counted_once, devices, events, identities

MARK = "demo-history-"
_COUNTED_ONCE = (leads.NAME, conversions.NAME)
_MARKS_AT_ONCE = 1_000


class IsAddedUp(OperatorError):
    """Single clicks of the history have expired, and can't be told from others of their days any more."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            f"The demo history of the organization {org_id} stays: its first days are added up already "
            "(`waylink privacy click-retention`), and their clicks can't be taken out any more."
        )


@dataclass(frozen=True, slots=True)
class Removed:
    """How much was removed."""

    links: int
    clicks: int
    leads: int
    conversions: int


def log_id(org_id: OrgId, run: str) -> str:
    """The click log that the clicks of a run come from. Its position is in hours from the run's beginning."""
    return f"{MARK}{org_id}-{run}"


async def stored_history(database: Database, org_id: OrgId, run: str) -> LogHead:
    """How much of the run is stored: its position is how many hours."""
    return await find_head(database, log_id(org_id, run))


async def find_history_links(database: Database, org_id: OrgId) -> list[Link]:
    """The links of the organization's demo history."""
    return await links.find_all(database, None, _history_links(org_id))


async def insert_history_links(database: Database, made: Sequence[Link], new_tags: Sequence[Tag]) -> None:
    """Store the links of a demo history, and the tags that were not there: all of them, or none."""

    async def work(session: ClientSession) -> None:
        if new_tags:
            await database[tags.NAME].insert_many(map(tags.to_document, new_tags), session=session)
        await database[links.NAME].insert_many(map(links.to_document, made), session=session)
        facts = [*(tag_fact(each.id, each.name) for each in new_tags)]
        facts += (created_fact(each, each.created_at) for each in made)
        await entries.note(database, session, {made[0].org_id: facts})

    await in_transaction(database, work)


async def remove_history(
    database: Database, org_id: OrgId, run: str, own_domains: Iterable[str], now: datetime
) -> Removed:
    """Delete the organization's demo history with all clicks on its links. What else is there stays.

    `own_domains` are deleted if no link is left on them. Analytics reads everything anew then. Can be done
    again after an interruption. Raises IsAddedUp.
    """
    link_ids = {each.id for each in await find_history_links(database, org_id)}
    if await are_added_up(database, org_id, link_ids):
        raise IsAddedUp(org_id)
    for link_id in link_ids:
        await add_purged_link(database, link_id, org_id, now)
    clicks = await remove_clicks(database, org_id, link_ids)
    await delete_counts(database, sorted(link_ids))
    await database[click_logs.NAME].delete_one({"_id": log_id(org_id, run)})
    records = {name: await _remove_records(database, org_id, run, name) for name in _COUNTED_ONCE}
    for name in (events.NAME, calls.NAME, identities.NAME, devices.NAME):
        await database[name].delete_many(_of_run(org_id, run))
    await _remove_tags(database, org_id, run)
    await _tell(database, org_id)
    # The links go last: they say which run there was.
    gone = await delete_told(database, _history_links(org_id), now)
    await remove_empty_domains(database, org_id, own_domains)
    return Removed(gone, clicks, records[leads.NAME], records[conversions.NAME])


async def _tell(database: Database, org_id: OrgId) -> None:
    """Tell analytics that clicks and visitors have gone of which nobody else is told."""

    async def work(session: ClientSession) -> None:
        await entries.note(database, session, {org_id: [anew_fact()]})

    await in_transaction(database, work)


async def _remove_tags(database: Database, org_id: OrgId, run: str) -> None:
    """Delete the run's tags but for those that somebody has given to a link since."""
    made = {"org_id": org_id, "_id": {"$regex": f"^{re.escape(run)}-"}}
    others = {"org_id": org_id, "external_id": {"$not": re.compile(f"^{re.escape(MARK)}")}}
    kept = await database[links.NAME].distinct("tag_ids", others | links.TAGGED)
    ids = [each["_id"] async for each in database[tags.NAME].find(made, {"_id": 1})]
    gone = sorted({*ids} - {*kept})

    async def work(session: ClientSession) -> None:
        await database[tags.NAME].delete_many({"org_id": org_id, "_id": {"$in": gone}}, session=session)
        await entries.note(database, session, {org_id: [tag_fact(each, None) for each in gone]})

    await in_transaction(database, work)


async def remove_empty_domains(database: Database, org_id: OrgId, names: Iterable[str]) -> None:
    """Remove those of the organization's domains that have no links."""

    async def remove(name: str) -> None:
        with contextlib.suppress(NotItsDomain, DomainInUse):
            await remove_domain(database, name, org_id)

    await asyncio.gather(*map(remove, names))


async def _remove_records(database: Database, org_id: OrgId, run: str, name: str) -> int:
    """Delete the run's leads or conversions, and what remembers that they were counted."""
    stored = database[name].find(_of_run(org_id, run))
    marks = [mark async for each in stored for mark in counted_once.marks_of(name, each, org_id)]
    for start in range(0, len(marks), _MARKS_AT_ONCE):
        some = {"_id": {"$in": marks[start : start + _MARKS_AT_ONCE]}}
        await database[counted_once.NAME].delete_many(some)
    return int((await database[name].delete_many(_of_run(org_id, run))).deleted_count)


def _history_links(org_id: OrgId) -> Document:
    return {"org_id": org_id, "external_id": {"$regex": f"^{re.escape(MARK)}"}}


def _of_run(org_id: OrgId, run: str) -> Document:
    return {"_id": {"$regex": f"^{re.escape(org_id)}/{re.escape(run)}-"}}
