"""The `mails` collection: the mails that wait, and for a while what became of those that were sent.

A mail's id has the key that its writer chose, so that a mail is queued once. Only one process brings a mail
from `waiting` to `sending`, and only such a mail's text is given to a mail server: so none is sent twice,
whatever process dies (decisions, "mail").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel

from backend.domain.fields.email_addresses import address_hash
from backend.domain.ids import OrgId
from backend.domain.mail.mail import (
    FailedMail,
    Mail,
    MailFailure,
    MailResult,
    MailState,
    QueuedMail,
    next_try,
)
from backend.storage.accounts.users.users import find_member_by_email
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    is_duplicate,
    known_fields,
)
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotSharded, Personal
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.schema.work_item import WorkItem, items_in_turns

NAME = "mails"
# Longer than any period that a mail is about: while its key is there, it is not queued again.
KEPT = timedelta(days=100)
# Of mails that were not sent, or not yet: the error goes once a mail is sent.
_WITH_ERROR = {"error": {"$type": "string"}}
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("state", 1), ("next_try_at", 1)]),
        IndexModel([("address_sha256", 1), ("created_at", 1)]),
        IndexModel([("org_id", 1), ("created_at", -1)], partialFilterExpression=_WITH_ERROR),
        IndexModel("created_at", expireAfterSeconds=int(KEPT.total_seconds())),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(email_sha256="address_sha256"),
    retention=NoRetention("gone after a hundred days, and the text once it is sent"),
    archived=NotArchived("a restored organization must not send what was sent already"),
    shard_key=NotSharded("few, and gone after a hundred days"),
    audited=NotAudited("what is sent follows from rules and settings, whose changes are recorded"),
)
_TEXTS = ("subject", "text", "html", "unsubscribe_url")
_RESULT = tuple(attribute.name for attribute in fields(MailResult))


async def queue_mail(database: Database, mail: Mail, now: datetime) -> bool:
    """Have the mail sent. Returns False if there is or was one with its key: then nothing is changed."""
    try:
        await database[NAME].insert_one(waiting_document(mail, now))
    except StorageError as error:
        if is_duplicate(error):
            return False
        raise
    return True


async def queue_mail_within(database: Database, mail: Mail, now: datetime, session: ClientSession) -> None:
    """Have the mail sent once the caller's transaction is stored. Raises StorageError if its key was used."""
    await database[NAME].insert_one(waiting_document(mail, now), session=session)


def waiting_document(mail: Mail, now: datetime) -> Document:
    """The mail as it is stored when it is queued."""
    document = {field.name: getattr(mail, field.name) for field in fields(Mail) if field.name != "key"}
    return document | {
        "_id": _id(mail),
        "address_sha256": address_hash(mail.address),
        "created_at": now,
        "state": MailState.WAITING.value,
        "attempts": 0,
        "next_try_at": now,
    }


async def due_mails(
    database: Database, now: datetime, limit: int, but: Sequence[str] = ()
) -> list[WorkItem[QueuedMail]]:
    """At most so many mails that are to be sent now, without those `but`. Organizations take turns, with the
    mail first that waits longest."""
    due = {"state": MailState.WAITING.value, "next_try_at": {"$lte": now}, "_id": {"$nin": list(but)}}
    return await items_in_turns(database, NAME, due, _queued, since="next_try_at", limit=limit)


async def begin_sending(database: Database, mail: Mail, sender: str, now: datetime) -> bool:
    """Note that this sender now gives the mail's text to the mail server.

    Returns False if it must not: another has begun, or the mail is not wanted any more.
    """
    waiting: Document = {"_id": _id(mail), "state": MailState.WAITING.value}
    if not await _is_wanted(database, mail):
        await _end(waiting, database, MailState.GIVEN_UP, now)  # kept, as limits count it
        return False
    if mail.until and mail.until <= now:
        return False  # `end_outdated` ends it
    begun = {"state": MailState.SENDING.value, "sender": sender, "began_at": now}
    return bool((await database[NAME].update_one(waiting, {"$set": begun})).modified_count)


async def end_sent(database: Database, mail: Mail, sender: str, now: datetime) -> None:
    """Note that the mail server took the mail, also if others thought that this was uncertain."""
    states = [MailState.SENDING.value, MailState.UNCERTAIN.value]
    await _end({"_id": _id(mail), "sender": sender, "state": {"$in": states}}, database, MailState.SENT, now)


async def end_failed(
    database: Database, queued: QueuedMail, sender: str, failure: MailFailure, now: datetime, *, chance: float
) -> None:
    """Note that this sender did not send the mail: it waits for the next attempt, or it is given up.

    Nothing is noted where another sends it by now. `chance` is a random number from 0 to 1.
    """
    begun = {"state": MailState.SENDING.value, "sender": sender}
    open_mail = {"_id": _id(queued.mail), "$or": [{"state": MailState.WAITING.value}, begun]}
    if failure.is_uncertain:
        await _end(open_mail, database, MailState.UNCERTAIN, now, str(failure))
    elif failure.is_final:
        await _end(open_mail, database, MailState.REFUSED, now, str(failure))
    elif again_at := next_try(queued, now, chance):
        wait = {"state": MailState.WAITING.value, "next_try_at": again_at, "error": str(failure)}
        await database[NAME].update_one(open_mail, {"$set": wait, "$inc": {"attempts": 1}})
    else:
        await _end(open_mail, database, MailState.GIVEN_UP, now, str(failure))


async def end_interrupted(database: Database, now: datetime) -> int:
    """Note that mails are uncertain which a sender began to send and did not end. Returns how many.

    For the sender that has the lease, while it sends none: the others have ended, or were suspended.
    """
    interrupted = {"state": MailState.SENDING.value}
    error = "The service ended while the mail was on its way: it may have arrived, and is not sent again."
    return await _end(interrupted, database, MailState.UNCERTAIN, now, error, many=True)


async def _is_wanted(database: Database, mail: Mail) -> bool:
    if mail.to_member and not await find_member_by_email(database, mail.org_id, mail.address):
        return False
    if mail.about is None:
        return True
    collection, _, document_id = mail.about.partition("/")
    return await database[collection].find_one({"_id": document_id}, {"_id": 1}) is not None


async def end_outdated(database: Database, now: datetime) -> None:
    """Note that waiting mails are given up whose subject has ended by now, such as a link."""
    outdated = {"state": MailState.WAITING.value, "until": {"$lte": now}}
    error = "What the mail is about has ended before it could be sent."
    await _end(outdated, database, MailState.GIVEN_UP, now, error, many=True)


async def drop_waiting(database: Database, org_id: OrgId, address: str, prefix: str) -> None:
    """Delete the organization's mails to an address that wait and whose key begins with this prefix."""
    beginning = f"{org_id}/{prefix}"
    keys = {"$gte": beginning, "$lt": f"{beginning}\uffff"}
    await database[NAME].delete_many({"_id": keys, "address": address, "state": MailState.WAITING.value})


async def count_to(
    database: Database, address: str, since: datetime, org_id: OrgId | None, key_part: str
) -> int:
    """How many mails were queued for an address since then; None: by whomever. Keys contain this part."""
    of = {
        "$regex": f"^{re.escape(org_id)}/{re.escape(key_part)}" if org_id is not None else re.escape(key_part)
    }
    asked = {"address_sha256": address_hash(address), "created_at": {"$gte": since}, "_id": of}
    return int(await database[NAME].count_documents(asked))


async def count_of(database: Database, org_id: OrgId, since: datetime, prefix: str) -> int:
    """How many of the organization's mails whose keys begin so were queued since then."""
    keys = {"$gte": f"{org_id}/{prefix}", "$lt": f"{org_id}/{prefix}\uffff"}
    return int(await database[NAME].count_documents({"_id": keys, "created_at": {"$gte": since}}))


async def last_of_each(database: Database, org_id: OrgId, keys_begin: str) -> Mapping[str, MailResult]:
    """What became of the last of the organization's mails whose keys begin so, by the keys' next part.

    The last mails with figures are those of "figures/", by recipient.
    """
    first = f"{org_id}/{keys_begin}"
    next_part = {"$arrayElemAt": [{"$split": ["$_id", "/"]}, first.count("/")]}
    found = database[NAME].aggregate(
        [
            {"$match": {"_id": {"$gte": first, "$lt": f"{first}\uffff"}}},
            {"$project": dict.fromkeys(_RESULT, 1)},
            {"$sort": {"created_at": 1}},
            {"$group": {"_id": next_part, **{name: {"$last": f"${name}"} for name in _RESULT}}},
        ]
    )
    return {document["_id"]: _result(document) async for document in found}


async def list_failed(database: Database, org_id: OrgId, since: datetime, limit: int) -> list[FailedMail]:
    """At most so many of the organization's mails that were queued since then and not sent, the newest first.

    Mails that wait to be tried again are among them, once an attempt has failed.
    """
    found = database[NAME].find(_failed(org_id, since), dict.fromkeys(_TEXTS, 0))
    return [
        FailedMail(
            key=document["_id"].removeprefix(f"{org_id}/"),
            address=document["address"],
            result=_result(document),
            next_try_at=document["next_try_at"],
        )
        async for document in found.sort("created_at", -1).limit(limit)
    ]


async def count_failed(database: Database, org_id: OrgId, since: datetime, until: datetime) -> int:
    """How many of these mails were queued since then, and before the other time."""
    failed = _failed(org_id, since)
    return int(await database[NAME].count_documents(failed | {"created_at": {"$gte": since, "$lt": until}}))


def _failed(org_id: OrgId, since: datetime) -> Document:
    return {"org_id": org_id, "created_at": {"$gte": since}, **_WITH_ERROR}


async def _end(
    query: Document,
    database: Database,
    state: MailState,
    now: datetime,
    error: str | None = None,
    *,
    many: bool = False,
) -> int:
    """End mails. Their texts are deleted: the figures are elsewhere, and nobody reads them here."""
    change: Document = {
        "$set": {"state": state.value, "ended_at": now, "error": error, "next_try_at": None},
        "$unset": dict.fromkeys(_TEXTS, ""),
    }
    update = database[NAME].update_many if many else database[NAME].update_one
    return int((await update(query, change)).modified_count)


def _id(mail: Mail) -> str:
    return f"{mail.org_id}/{mail.key}"


def _queued(document: Document) -> QueuedMail:
    key = document["_id"].removeprefix(f"{document['org_id']}/")
    return QueuedMail(
        Mail(key=key, **known_fields(document, Mail)), document["created_at"], document["attempts"]
    )


def _result(document: Document) -> MailResult:
    values: dict[str, Any] = known_fields(document, MailResult) | {"state": MailState(document["state"])}
    return MailResult(**values)
