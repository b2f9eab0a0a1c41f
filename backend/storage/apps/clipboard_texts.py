"""The `clipboard_texts` collection: texts that wait for an app's first launch. Each is redeemed at most once.

A document has only a hash of its text. It is deleted when the text is redeemed, or when it expires.
"""

from __future__ import annotations

from datetime import datetime

from backend.domain.apps.clipboard_texts import ClipboardText
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.ownership import ByField

NAME = "clipboard_texts"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByField(),
    personal=NotPersonal("a hash of a random text, which only the visitor's clipboard has"),
    retention=NoRetention("gone within a day"),
    archived=NotArchived("gone within a day"),
    shard_key=NotSharded("gone within a day"),
    audited=NotAudited("the service's own notes for its work"),
)
_SHAPE = DocumentShape(record=ClipboardText)


async def add_text(database: Database, text: ClipboardText) -> None:
    """Store a text, so that one installation can redeem it."""
    await database[NAME].insert_one(_SHAPE.to_document(text))


async def find_text(
    database: Database, text_id: str, org_id: OrgId, app_id: str, now: datetime
) -> ClipboardText | None:
    """The organization's text for this app; None if it was redeemed, has expired, or never was."""
    wanted = {"_id": text_id, "org_id": org_id, "app_id": app_id, "expires_at": {"$gt": now}}
    document = await database[NAME].find_one(wanted)
    return _SHAPE.from_document(document) if document else None


async def redeem(
    database: Database, session: ClientSession, org_id: OrgId, text_id: str
) -> ClipboardText | None:
    """Take a text out, in the caller's transaction; None if another installation has redeemed it."""
    document = await database[NAME].find_one_and_delete({"_id": text_id, "org_id": org_id}, session=session)
    return _SHAPE.from_document(document) if document else None
