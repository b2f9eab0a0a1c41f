"""The `report_recipients` collection: who gets the figures of which report by mail."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pymongo import IndexModel, ReturnDocument

from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress, address_hash
from backend.domain.ids import OrgId, ReportId
from backend.domain.mail.mail import LONGEST_ERROR
from backend.domain.reports.recipient import (
    CONFIRMED_WITHIN,
    MOST_RECIPIENTS,
    Recipient,
    RecipientState,
    check_asked_for,
)
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    in_transaction,
    is_duplicate,
)
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotSharded, Personal, Stage
from backend.storage.schema.document_fields import sha256, text_of, time_zone, url_token
from backend.storage.schema.document_shape import DocumentShape, stored_values
from backend.storage.schema.own_documents import OwnDocuments, existing
from backend.storage.schema.ownership import ByField
from backend.storage.schema.work_item import WorkItem, items_in_turns

NAME = "report_recipients"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("report_id", 1), ("address", 1), ("frequency", 1)], unique=True),
        IndexModel([("org_id", 1), ("address_sha256", 1)]),
        IndexModel("token", unique=True),
        IndexModel([("state", 1), ("next_at", 1)]),
        IndexModel("expires_at", expireAfterSeconds=0),  # of those who did not confirm
    ],
    owned_by=ByField(),
    personal=Personal(email_sha256="address_sha256"),
    retention=NoRetention("who confirmed gets mails until they unsubscribe"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(
        kind="report_recipient",
        # Also the address: it may be a customer's, whom an erasure must leave nowhere.
        hidden=frozenset({"address", "address_sha256", "token", "code"}),
        ignored=frozenset({"next_at", "error", "expires_at"}),
    ),
    # Who has the code can say yes for whoever was asked.
    withheld={"code": None},
)
SHAPE = DocumentShape(
    record=Recipient,
    rules={
        "address": EmailAddress().parse,
        "timezone": time_zone,
        "token": url_token,
        "code": url_token,
        "error": text_of(LONGEST_ERROR),
    },
    only_stored={"address_sha256": sha256},
)
_RECIPIENTS = OwnDocuments(NAME, MOST_RECIPIENTS, "address")
# Nobody can guess a token of so many bytes.
_TOKEN_BYTES = 32


async def ask_recipient(
    database: Database,
    org_id: OrgId,
    values: Mapping[str, Any],
    now: datetime,
    also: Callable[[Recipient, ClientSession], Awaitable[None]] | None = None,
) -> Recipient:
    """Store a recipient who has to confirm, with a new code. One who has confirmed already stays as it is.

    `values` are those of RECIPIENT_FIELDS. `also` writes in the same transaction what belongs to it: the mail
    with the code. Raises TooManyItems.
    """
    own = _own(org_id, values)
    if not await database[NAME].find_one(own, {"_id": 1}):
        await _RECIPIENTS.check_room(database, org_id)
    asked = {
        "state": RecipientState.UNCONFIRMED.value,
        "code": secrets.token_urlsafe(_TOKEN_BYTES),
        "expires_at": now + CONFIRMED_WITHIN,
        "language": values["language"].value,
        "timezone": values["timezone"].key,
        "error": None,
    }
    made = {
        "_id": str(uuid.uuid4()),
        "address_sha256": address_hash(values["address"]),
        "created_at": now.replace(microsecond=0),
        "token": secrets.token_urlsafe(_TOKEN_BYTES),
        "confirmed_at": None,
        "next_at": None,
    }
    not_confirmed = own | {"state": {"$ne": RecipientState.CONFIRMED.value}}

    async def work(session: ClientSession) -> Recipient:
        document = await database[NAME].find_one_and_update(
            not_confirmed,
            {"$set": asked, "$setOnInsert": made},
            upsert=True,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        recipient = SHAPE.from_document(existing(document))
        if also:
            await also(recipient, session)
        return recipient

    try:
        return await in_transaction(database, work)
    except StorageError as error:
        if not is_duplicate(error):
            raise
        return SHAPE.from_document(
            existing(await database[NAME].find_one(own))
        )  # confirmed at the same moment


async def confirm_recipient(database: Database, token: str, code: str, now: datetime) -> Recipient | None:
    """Confirm for whom these were made; None if that is nobody, or too late. Doing it again is fine."""
    found = await database[NAME].find_one({"token": token, "code": code})
    if found is None or (found["expires_at"] and found["expires_at"] <= now):
        return None
    recipient = SHAPE.from_document(found)
    if recipient.state is RecipientState.CONFIRMED:
        return recipient
    confirmed = {
        "state": RecipientState.CONFIRMED.value,
        "confirmed_at": now.replace(microsecond=0),
        "expires_at": None,
        "next_at": recipient.next_after(now),
    }
    document = await database[NAME].find_one_and_update(
        {
            "_id": recipient.id,
            "org_id": recipient.org_id,
            "code": code,
            "state": RecipientState.UNCONFIRMED.value,
        },
        {"$set": confirmed},
        return_document=ReturnDocument.AFTER,
    )
    return SHAPE.from_document(document) if document else None


async def unsubscribe_recipient(database: Database, token: str) -> Recipient | None:
    """Stop the mails of whoever has this token; None if nobody has it. Doing it again is fine.

    The code of the mail that asked them does not confirm any more: they have to be asked again.
    """
    ended = {"state": RecipientState.UNSUBSCRIBED.value, "code": None, "expires_at": None, "next_at": None}
    document = await database[NAME].find_one_and_update(
        {"token": token}, {"$set": ended}, return_document=ReturnDocument.AFTER
    )
    return SHAPE.from_document(document) if document else None


async def change_recipient(
    database: Database, org_id: OrgId, given_id: str, changes: Mapping[str, Any], now: datetime
) -> Recipient:
    """Change these RECIPIENT_SETTINGS for the organization. The recipient is not asked again.

    Raises ItemUnknown, and InvalidField for what they would have to agree to or get already.
    """
    before = await get_recipient(database, org_id, given_id)
    check_asked_for(before, changes)
    return await _change(database, before, changes, now)


async def change_own_settings(
    database: Database, token: str, changes: Mapping[str, Any], now: datetime
) -> Recipient | None:
    """Change the RECIPIENT_SETTINGS of whoever has this token; None if nobody has it.

    Raises InvalidField for what they get already.
    """
    before = await find_recipient_by_token(database, token)
    return await _change(database, before, changes, now) if before else None


async def _change(
    database: Database, before: Recipient, changes: Mapping[str, Any], now: datetime
) -> Recipient:
    """Who has confirmed gets the next mail when it is due by the new settings."""
    values = {name: value for name, value in changes.items() if name != "timezone"}
    values |= {"timezone": changes["timezone"].key} if "timezone" in changes else {}
    if before.state is RecipientState.CONFIRMED:
        values["next_at"] = replace(before, **values).next_after(now)
    try:
        return SHAPE.from_document(
            await _RECIPIENTS.change(database, before.org_id, before.id, stored_values(values))
        )
    except StorageError as error:
        if is_duplicate(error):
            raise InvalidField("frequency", "is one at which this address gets the report already") from None
        raise


async def find_recipient(database: Database, org_id: OrgId, values: Mapping[str, Any]) -> Recipient | None:
    """The recipient of this report, address and frequency; None if there is none."""
    document = await database[NAME].find_one(_own(org_id, values))
    return SHAPE.from_document(document) if document else None


async def find_recipient_by_token(database: Database, token: str) -> Recipient | None:
    """The recipient with this token, of whichever organization; None if there is none."""
    document = await database[NAME].find_one({"token": token})
    return SHAPE.from_document(document) if document else None


async def list_recipients(database: Database, org_id: OrgId) -> list[Recipient]:
    """All recipients of the organization: by report, then by address."""
    order = [("report_id", 1), ("address", 1), ("frequency", 1)]
    return [
        SHAPE.from_document(document)
        async for document in database[NAME].find({"org_id": org_id}).sort(order)
    ]


async def get_recipient(database: Database, org_id: OrgId, given_id: str) -> Recipient:
    """The recipient. Raises ItemUnknown."""
    return SHAPE.from_document(await _RECIPIENTS.get(database, org_id, given_id))


async def count_recipients_of(database: Database, org_id: OrgId, report_id: ReportId) -> int:
    """How many people have confirmed that they want the report's figures."""
    confirmed = {"org_id": org_id, "report_id": report_id, "state": RecipientState.CONFIRMED.value}
    return int(await database[NAME].count_documents(confirmed))


async def remove_recipient(database: Database, org_id: OrgId, given_id: str) -> Recipient:
    """Delete the recipient. Returns it as it was. Raises ItemUnknown."""
    return SHAPE.from_document(await _RECIPIENTS.delete(database, org_id, given_id))


async def remove_recipients_of(database: Database, org_id: OrgId, report_id: ReportId) -> None:
    """Delete all recipients of the report."""
    await database[NAME].delete_many({"org_id": org_id, "report_id": report_id})


async def due_recipients(
    database: Database, now: datetime, limit: int, but: Sequence[str] = ()
) -> list[WorkItem[Recipient]]:
    """At most so many recipients to whom a mail is due, without those `but`. Organizations take turns, with
    the recipient first who waits longest."""
    due = {"state": RecipientState.CONFIRMED.value, "next_at": {"$lte": now}, "_id": {"$nin": list(but)}}
    return await items_in_turns(database, NAME, due, SHAPE.from_document, since="next_at", limit=limit)


async def set_next(
    database: Database, recipient: Recipient, next_at: datetime, error: str | None = None
) -> None:
    """Have the next mail made then; `error` is why this one could not be made."""
    confirmed = {"_id": recipient.id, "org_id": recipient.org_id, "state": RecipientState.CONFIRMED.value}
    await unrecorded(database)[NAME].update_one(confirmed, {"$set": {"next_at": next_at, "error": error}})


async def note_refusal(database: Database, org_id: OrgId, address: str, error: str) -> None:
    """Send nothing more to an address that the mail server refuses for good."""
    theirs = {"org_id": org_id, "address_sha256": address_hash(address)}
    live = {"$in": [RecipientState.UNCONFIRMED.value, RecipientState.CONFIRMED.value]}
    refused = {"state": RecipientState.REFUSED.value, "error": error, "next_at": None, "expires_at": None}
    await database[NAME].update_many(theirs | {"state": live}, {"$set": refused})


def _own(org_id: OrgId, values: Mapping[str, Any]) -> Document:
    """The query for the one recipient of a report, an address and a frequency."""
    return {"org_id": org_id} | {name: values[name] for name in ("report_id", "address", "frequency")}
