"""How long an organization keeps single clicks. Their counts stay."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend.domain.ids import OrgId
from backend.storage import click_blocks, click_folds, organizations
from backend.storage.click_folds import marking
from backend.storage.mongo import ClientSession, Database, in_transaction


async def set_click_days(database: Database, org_id: OrgId, days: int | None) -> int:
    """Set for how many days single clicks are kept (None: without limit), also those that are stored.

    Whole blocks are deleted, each when its last click is so old. Returns how many blocks got a new date.
    Raises UnknownOrganization.
    """

    async def work(session: ClientSession) -> None:
        # A fold or a merge that has read the days of before conflicts with this, and reads them again.
        turn = {"$inc": {"folds": 1}}
        await database[click_folds.NAME].update_one({"_id": org_id}, turn, upsert=True, session=session)
        await organizations.set_click_days(database, session, org_id, days)

    await in_transaction(database, work)
    dated = {"org_id": org_id, "folded": True, "in_fold": {"$ne": True}, "is_unreadable": {"$ne": True}}
    changed = await database[click_blocks.NAME].update_many(dated, marking(days))
    return changed.matched_count


def single_clicks_since(days: int | None, now: datetime) -> datetime | None:
    """From when on all single clicks are there, at `now`; None if they are kept without limit."""
    return None if days is None else now - timedelta(days=days)
