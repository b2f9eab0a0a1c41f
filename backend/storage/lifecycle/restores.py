"""Stores the documents of an archive. The `restores` collection says how far each restore has come.

The organization itself is stored last. Until then no command finds it, and none of its keys works.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pymongo.errors import BulkWriteError

from backend.domain.accounts.entry.who_gets_in import ends_sign_in_by_restore
from backend.domain.accounts.roles import Role
from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.storage.accounts import api_keys, domains, organizations
from backend.storage.accounts.restores import NAME
from backend.storage.accounts.users import users
from backend.storage.accounts.users.new_passwords import end_sign_in
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import logs as click_logs
from backend.storage.driver.mongo import DUPLICATE_KEY, ClientSession, Database, Document, in_transaction
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.links import links
from backend.storage.links import purged as purged_links

_ACCOUNT = {"email": 1, "managed_by": 1}
_WHAT = {
    domains.NAME: "the domain",
    organizations.NAME: "an organization with the id",
    api_keys.NAME: "a key with the id",
    users.NAME: "with another address the user",
}


class AlreadyTaken(OperatorError):
    """The database already has an id or a unique value of the archive's documents."""

    def __init__(self, name: str, document: Document) -> None:
        what = _WHAT.get(name, f"in {name} a document with the id")
        super().__init__(
            f"The database already has {what} {document['_id']}, or what must be as unique as that. "
            "Restore into a database that does not know this organization."
        )


class OtherRestoreUnfinished(OperatorError):
    """A restore of the same organization from another file was started and is not finished."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            f"A restore of the organization {org_id} from another file was begun; finish it with that file."
        )


class RestoreCancelled(OperatorError):
    """A command has cancelled the restore meanwhile, and deleted what it had stored."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            f"The restore of the organization {org_id} was given up meanwhile, and what it stored is "
            "deleted. Run it again to begin anew."
        )


@dataclass(frozen=True, slots=True)
class LeftOutMember:
    """A member of the archive who is none of the restored organization: another user has the address."""

    email: str
    role: Role


async def find_position(database: Database, org_id: OrgId, fingerprint: str) -> int | None:
    """How many bytes of this file are certainly stored; None if the restore was not begun.

    `fingerprint` identifies the file. Raises AlreadyTaken if the organization exists, and
    OtherRestoreUnfinished.
    """
    if await database[organizations.NAME].find_one({"_id": org_id}, {"_id": 1}):
        raise AlreadyTaken(organizations.NAME, {"_id": org_id})
    restore = await database[NAME].find_one({"_id": org_id})
    if restore is None:
        return None
    if restore["fingerprint"] != fingerprint:
        raise OtherRestoreUnfinished(org_id)
    return int(restore["position"])


async def refuse_taken(database: Database, name: str, documents: Sequence[Document]) -> None:
    """Raise AlreadyTaken if the collection has one of these documents' ids or unique keys.

    A user with the same id and the same e-mail address, who has a sign-in of their own, may exist, and so may
    an address of theirs: whoever had none of these ids could else keep the organization out by an address.
    """
    if name == users.NAME:
        conditions: list[Document] = [
            {"_id": document["_id"], "$nor": [_account(document)]} for document in documents
        ]
    else:
        conditions = [{"_id": {"$in": [document["_id"] for document in documents]}}]
    if name == domains.NAME:  # an interrupted restore may have reserved the organization's own
        conditions[0]["org_id"] = {"$nin": [document["org_id"] for document in documents]}
    if name == api_keys.NAME:
        conditions.append({"key_hash": {"$in": [document["key_hash"] for document in documents]}})
    for condition in conditions:
        document = await database[name].find_one(condition, {"_id": 1})
        if document:
            raise AlreadyTaken(name, document)
    if name == click_blocks.NAME:
        await _refuse_ids_to_come(database, documents)
    if name == purged_links.NAME:
        ids = [document["_id"] for document in documents]
        if document := await database[links.NAME].find_one({"_id": {"$in": ids}}, {"_id": 1}):
            raise AlreadyTaken(name, document)  # clicks of the archive would count for it


async def begin_restore(
    database: Database, org_id: OrgId, fingerprint: str, domain_names: Iterable[str]
) -> None:
    """Note that the organization is being restored, and reserve all of these domains for it.

    Otherwise another organization could add them meanwhile, and would then have links of this one on its
    domains. If the restore was begun before, nothing changes. Raises AlreadyTaken.
    """
    names = list(domain_names)
    begun = {"$setOnInsert": {"fingerprint": fingerprint, "position": 0}}

    async def work(session: ClientSession) -> None:
        documents = database[domains.NAME].find({"_id": {"$in": names}}, {"org_id": 1}, session=session)
        owners = {document["_id"]: document["org_id"] async for document in documents}
        for name, owner in owners.items():
            if owner != org_id:
                raise AlreadyTaken(domains.NAME, {"_id": name})
        held = [{"_id": name, "org_id": org_id, "is_leaving": True} for name in names if name not in owners]
        if held:
            await unrecorded(database)[domains.NAME].insert_many(held, session=session)
        await database[NAME].update_one({"_id": org_id}, begun, upsert=True, session=session)

    await in_transaction(database, work)


async def _refuse_ids_to_come(database: Database, documents: Sequence[Document]) -> None:
    """Raise AlreadyTaken if a block has an id that a click log of this installation will still use."""
    places = [(block, *place) for block in documents if (place := click_blocks.log_place(block["_id"]))]
    shipped = await click_logs.shipped_positions(database, {log_id for _, log_id, _ in places})
    for document, log_id, position in places:
        if position >= shipped.get(log_id, math.inf):
            raise AlreadyTaken(click_blocks.NAME, document)


async def insert_history(
    database: Database,
    name: str,
    documents: Sequence[Document],
    *,
    org_id: OrgId,
    fingerprint: str,
    position: int,
) -> None:
    """Store these documents, then note that the archive is stored up to `position`.

    Documents that an interrupted restore already stored are not changed: they may have been updated since.
    Raises AlreadyTaken and RestoreCancelled.
    """
    if documents:
        await _insert_missing(database, name, documents)
    come = {"$set": {"position": position}}
    noted = await database[NAME].update_one({"_id": org_id, "fingerprint": fingerprint}, come)
    if not noted.matched_count:
        raise RestoreCancelled(org_id)


async def cancel_restore(database: Database, session: ClientSession, org_id: OrgId) -> None:
    """Cancel a restore of the organization in the caller's transaction: one that runs will fail."""
    await database[NAME].delete_one({"_id": org_id}, session=session)


async def finish_restore(
    database: Database, org_id: OrgId, setup: Mapping[str, Sequence[Document]]
) -> Sequence[LeftOutMember]:
    """Store the documents that make the organization usable, all or nothing. Returns the members left out.

    Raises AlreadyTaken and RestoreCancelled.
    """
    stored = unrecorded(database)

    async def work(session: ClientSession) -> Sequence[LeftOutMember]:
        left_out: Sequence[LeftOutMember] = ()
        ended = await database[NAME].delete_one({"_id": org_id}, session=session)
        if not ended.deleted_count:
            raise RestoreCancelled(org_id)
        await stored[domains.NAME].delete_many({"org_id": org_id}, session=session)  # what it held
        for name, documents in setup.items():
            new = documents
            if name == users.NAME:
                members, left_out = await _without_taken(stored, session, org_id, documents)
                new = await _join_known_users(stored, session, org_id, members)
            if new:
                await stored[name].insert_many(new, session=session)
        return left_out

    try:
        return await in_transaction(database, work)
    except BulkWriteError as error:
        _raise_taken(error, setup)


async def _without_taken(
    database: Database, session: ClientSession, org_id: OrgId, documents: Sequence[Document]
) -> tuple[Sequence[Document], Sequence[LeftOutMember]]:
    """The users of the archive, and those left out of them, since another user has their address here."""
    addresses = {"email": {"$in": [document["email"] for document in documents]}}
    found = database[users.NAME].find(addresses, _ACCOUNT, session=session)
    holders = {(user["email"], user.get("managed_by")): user["_id"] async for user in found}

    def is_taken(document: Document) -> bool:
        account = (document["email"], document.get("managed_by"))
        return bool(holders.get(account, document["_id"]) != document["_id"])

    left_out = [
        LeftOutMember(document["email"], _role(document, org_id))
        for document in documents
        if is_taken(document)
    ]
    return [document for document in documents if not is_taken(document)], left_out


async def _join_known_users(
    database: Database, session: ClientSession, org_id: OrgId, documents: Sequence[Document]
) -> Sequence[Document]:
    """Add this organization to users who exist already, and end a sign-in of theirs that the organization may
    not have known. Returns the users who do not exist yet, none of whom has shown that the address is theirs
    here."""
    ids = [document["_id"] for document in documents]
    collection = database[users.NAME]
    archived = {document["_id"]: document for document in documents}
    roles = {document["_id"]: _role(document, org_id) for document in documents}
    known_ids = {
        user["_id"]
        async for user in collection.find({"_id": {"$in": ids}}, _ACCOUNT, session=session)
        if _account(user) == _account(archived[user["_id"]])
    }
    for user_id in known_ids:
        known = await users.find_user(database, user_id, session)
        assert known is not None
        if ends_sign_in_by_restore(known, archived[user_id].get("password_hash")):
            await end_sign_in(database, known, session)
        join = users.membership_change(org_id, roles[user_id])
        await collection.update_one({"_id": user_id}, join, session=session)
    return [
        document | {"is_address_proved": False} for document in documents if document["_id"] not in known_ids
    ]


def _role(document: Document, org_id: OrgId) -> Role:
    return Role(document.get("roles", {}).get(org_id, Role.OWNER))


def _account(document: Document) -> Document:
    """The query for the one account of this kind that an address has."""
    return {"email": document["email"], "managed_by": document.get("managed_by")}


async def _insert_missing(database: Database, name: str, documents: Sequence[Document]) -> None:
    try:
        await unrecorded(database)[name].insert_many(documents, ordered=False)
    except BulkWriteError as error:
        refused = _refused(error)
        ids = [document["_id"] for document in refused]
        cursor = database[name].find({"_id": {"$in": ids}}, {"_id": 1})
        stored = {existing["_id"] async for existing in cursor}
        for document in refused:
            if document["_id"] not in stored:
                raise AlreadyTaken(name, document) from None


def _refused(error: BulkWriteError) -> list[Document]:
    """The documents that a unique index refused. Any other error is raised again."""
    errors = (error.details or {}).get("writeErrors", [])
    if not errors or any(write_error.get("code") != DUPLICATE_KEY for write_error in errors):
        raise error
    return [write_error["op"] for write_error in errors]


def _raise_taken(error: BulkWriteError, setup: Mapping[str, Sequence[Document]]) -> NoReturn:
    document = _refused(error)[0]
    name = next(name for name, documents in setup.items() if document in documents)
    raise AlreadyTaken(name, document) from None
