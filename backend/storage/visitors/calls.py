"""The `calls` collection: marks of the calls that are stored already, by call_id."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from backend.domain.ids import CallId, OrgId
from backend.domain.sales.decisions import CallKey
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, EXPIRY_INDEX, Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "calls"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("the id of a delivery is random and says nothing of its content"),
    retention=NoRetention("it is kept for 30 days"),
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)
# The SDK gives up on a call after a week. The id of its record refuses a delivery that arrives even later.
KEPT = timedelta(days=30)


def document_id(key: CallKey) -> str:
    """The `_id` of a call's document, in every collection."""
    return "/".join(key)


def key_of(stored_id: str) -> CallKey:
    """The key of the call that has this `_id`."""
    org_id, _, call_id = stored_id.partition("/")
    return OrgId(org_id), CallId(call_id)


def document(key: CallKey, received_at: datetime) -> Document:
    """The document that marks a call as stored."""
    return {"_id": document_id(key), "expires_at": received_at + KEPT}


def find_stored(
    database: BlockingDatabase, session: BlockingSession, keys: Iterable[CallKey], collection: str
) -> set[CallKey]:
    """Those of these calls that are in the collection."""
    by_id = {document_id(key): key for key in keys}
    cursor = database[collection].find({"_id": {"$in": list(by_id)}}, {"_id": 1}, session=session)
    return {by_id[document["_id"]] for document in cursor}
