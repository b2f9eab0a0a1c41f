"""The `deferred_links` collection: links that wait for an app's first launch. Each is claimed at most once.

Clicks on one link from one address are one candidate, since whoever clicks twice installs the app once. They
share a document for each day in UTC, since each day hashes addresses with its own key. The documents, with
their hashed addresses, are deleted when they expire.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import IndexModel, UpdateOne

from backend.domain.apps.deferred_links import Candidate, Handoff, candidate_id
from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ByField

NAME = "deferred_links"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("address_hash", 1), ("org_id", 1), ("app_id", 1)]), EXPIRY_INDEX],
    owned_by=ByField(),
    personal=NotPersonal("an address is there only as a hash, whose key is thrown away"),
    retention=NoRetention("gone within a day"),
    archived=NotArchived("gone within a day"),
    shard_key=NotSharded("gone within a day"),
    audited=NotAudited("the service's own notes for its work"),
)
# A click after the claim makes the link wait again. A click before it that is stored later does not.
_UNCLAIMED: Document = {
    "$or": [{"claimed_at": None}, {"$expr": {"$gt": ["$clicked_at", "$claimed_at"]}}],
}


async def add_handoffs(database: Database, session: ClientSession, clicks: Iterable[Click]) -> None:
    """Store the links of those clicks that lead to an app, in the caller's transaction."""
    updates = [_update(click, click.handoff) for click in clicks if click.handoff and click.counted]
    if updates:
        await database[NAME].bulk_write(updates, session=session, ordered=True)


def _update(click: Click, handoff: Handoff) -> UpdateOne:
    place = {
        "org_id": click.org_id,
        "app_id": handoff.app_id,
        "platform": click.platform,
        "address_hash": handoff.address_hash,
        "link_id": click.link_id,
    }
    name = candidate_id(click.org_id, handoff.app_id, click.platform, handoff.address_hash, click.link_id)
    latest = {"clicked_at": click.at, "expires_at": handoff.expires_at}
    return UpdateOne({"_id": name}, {"$max": latest, "$setOnInsert": place}, upsert=True)


async def find_candidates(
    database: Database,
    hashes: Sequence[str],
    org_id: OrgId,
    *,
    app_id: str,
    platform: AppPlatform,
    now: datetime,
) -> list[Candidate]:
    """The organization's links that wait for this app and address, neither claimed nor expired."""
    waiting = {
        "address_hash": {"$in": list(hashes)},
        "org_id": org_id,
        "app_id": app_id,
        "platform": platform.value,
        "expires_at": {"$gt": now},
    }
    ids: defaultdict[LinkId, list[str]] = defaultdict(list)
    async for document in database[NAME].find(waiting | _UNCLAIMED, {"link_id": 1}):
        ids[document["link_id"]].append(document["_id"])
    return [Candidate(link_id, tuple(sorted(of_link))) for link_id, of_link in ids.items()]


async def claim(database: Database, session: ClientSession, install: Install, candidate_id: str) -> bool:
    """Claim an id of a candidate for the install, in the caller's transaction.

    Returns False if it was claimed before, or is not there.
    """
    unclaimed = {"_id": candidate_id, "org_id": install.org_id} | _UNCLAIMED
    # An app may have been opened, by its clock, before the click that it claims.
    claimed_at = {"$max": ["$clicked_at", install.at]}
    result = await database[NAME].update_one(
        unclaimed, [{"$set": {"claimed_at": claimed_at}}], session=session
    )
    return bool(result.matched_count)
