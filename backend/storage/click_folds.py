"""The `click_folds` collection: who folds or merges an organization's clicks, one at a time.

Every transaction that does first writes the organization's document. So of two processes that work on one
organization, the second one fails at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymongo import IndexModel, UpdateOne

from backend.domain.ids import OrgId
from backend.storage.collection import Collection, NoRetention, NotPersonal, Stage, StaysWhole
from backend.storage.deleted_organizations import find_deleted
from backend.storage.mongo import ClientSession, Database, Document, StorageError, is_conflict
from backend.storage.ownership import ById

NAME = "click_folds"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("fold", partialFilterExpression={"fold": {"$exists": True}}, name="open")],
    owned_by=ById(),
    personal=NotPersonal("positions"),
    retention=NoRetention("positions"),
    archived=Stage.HISTORY,
    shard_key=StaysWhole("one small document an organization"),
)
# A former version folded many links in several transactions, and noted here how far it was.
OPEN: Document = {"fold": {"$exists": True}}
_CLOSED: Document = {"fold": {"$exists": False}}
# Blocks that such a fold named.
MOST_BLOCKS = 2_000


class Busy(Exception):
    """Another process folds the same organization's clicks, or did meanwhile. Nothing was changed."""


async def take(database: Database, session: ClientSession, org_ids: Sequence[OrgId]) -> None:
    """Keep everybody else from folding or merging these organizations' clicks until the transaction ends.

    Raises Busy if somebody does, if a fold is open, or if one of them was deleted since it was looked at. A
    deletion that begins later deletes what is folded or merged first, and so waits for the transaction or
    makes it fail.
    """
    takes = [
        UpdateOne({"_id": each} | _CLOSED, {"$inc": {"folds": 1}}, upsert=True) for each in sorted(org_ids)
    ]
    try:
        await database[NAME].bulk_write(takes, session=session, ordered=True)
    except StorageError as error:
        raise busy(error) from None
    if await find_deleted(database, org_ids, session):
        raise Busy


def busy(error: StorageError) -> Exception:
    """Busy if the error says that somebody else has written the same, or else the error itself."""
    return Busy() if is_conflict(error) else error


def marking() -> list[Document]:
    """The update that says of blocks that they are folded."""
    return [{"$set": {"folded": True, "in_fold": "$$REMOVE"}}]
