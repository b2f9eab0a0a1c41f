"""Changes a stored link for the service or its operator, and notes the change in the feed."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.audit.acting import acting
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread, transact
from backend.storage.driver.mongo import Database, Document
from backend.storage.links import links
from backend.storage.links.feed_facts import audit_of_change, changed_fact
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy


async def change_as_service(
    database: Database, query: Document, change: Document, at: datetime, *, is_audited: bool = True
) -> Link | None:
    """Apply a MongoDB update to the link that the query finds, and note it in the organization's feed.

    `at` is the time of the change. If it `is_audited`, the audit log has it too.
    Returns the changed link; None if the query finds none.
    """

    def work(database: BlockingDatabase, session: BlockingSession) -> Link | None:
        return _change(database, session, query, change, at, is_audited=is_audited)

    return await in_thread(database, lambda blocking: transact(blocking, partial(work, blocking)))


def _change(
    database: BlockingDatabase,
    session: BlockingSession,
    query: Document,
    change: Document,
    at: datetime,
    *,
    is_audited: bool,
) -> Link | None:
    before = database[links.NAME].find_one_and_update(query, change, session=session)
    if before is None:
        return None
    after = database[links.NAME].find_one({"_id": before["_id"], "org_id": before["org_id"]}, session=session)
    assert after is not None  # both are of one transaction
    changed = links.from_document(after)
    was = links.from_document(before)
    entries.note_blocking(database, session, {changed.org_id: [changed_fact(was, changed, at)]})
    if is_audited:
        fact = audit_of_change(was, changed, at, acting())
        entries.note_blocking(database, session, {changed.org_id: [fact]}, AgesBy.AUDIT)
    return changed


async def mark_used_up(
    database: Database, org_id: OrgId, link_id: LinkId, max_clicks: int, at: datetime
) -> None:
    """Note that the link has used up its limit of `max_clicks`, unless it has another limit by now."""
    query: Document = {
        "_id": link_id,
        "org_id": org_id,
        "limits.max_clicks": max_clicks,
        "limits.is_used_up": {"$ne": True},
    }
    await change_as_service(database, query, {"$set": {"limits.is_used_up": True}}, at, is_audited=False)
