"""Records each write of what organizations own, in the same transaction: a database whose collections do so.

What is recorded of a collection is a part of its declaration (storage/schema/audited). So no function that
stores something can forget it. Links and costs are written many at once, and record themselves
(storage/audit/facts).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from pymongo.results import DeleteResult, UpdateResult

from backend.domain.audit.differences import difference
from backend.domain.audit.entries import AuditTarget
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.accounts.users import users
from backend.storage.audit.facts import note_facts, recorded_fact
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.driver.unrecorded import RecordedDatabase
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection
from backend.storage.schema.ownership import Owned

# Of documents that are written at once, and compared with what they were.
PIECE_BYTES = 1_000_000
# How a document was before a write, and how it is after it.
_States = tuple[Document | None, Document | None]


class _RecordingDatabase(RecordedDatabase):
    """A database that records what is written into its audited collections, and else is the driver's."""

    def __init__(self, stored: Database, audited: Mapping[str, Collection]) -> None:
        super().__init__(stored)
        self._audited = audited
        self._collections: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        # Kept, as the driver makes the object of a collection anew each time it is named.
        if name not in self._collections:
            audited = self._audited.get(name)
            made = _RecordingCollection(self.stored, audited) if audited else self.stored[name]
            self._collections[name] = made
        return self._collections[name]

    def get_collection(self, name: str, **options: Any) -> Any:
        """A collection with options of its own. Of an audited one, only the driver's has any."""
        if name in self._audited:
            raise NotImplementedError(f"database[{name!r}] records, and `unrecorded(database)` does not")
        return self.stored.get_collection(name, **options)


def recording(database: Database, collections: Iterable[Collection]) -> Database:
    """The database, which records what is written into those of the collections that are audited."""
    audited = {collection.name: collection for collection in collections if _is_audited(collection)}
    return cast(Database, _RecordingDatabase(database, audited))


def _is_audited(collection: Collection) -> bool:
    return isinstance(collection.audited, Audited)


class _RecordingCollection:
    """A collection whose writes are recorded. Each takes what the driver's does, and returns the same."""

    def __init__(self, database: Database, collection: Collection) -> None:
        self._database = database
        self._stored = database[collection.name]
        self._collection = collection
        assert isinstance(collection.audited, Audited)
        self._audited = collection.audited

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)

    async def insert_one(self, document: Document, session: ClientSession | None = None) -> Any:
        return await self._run(session, partial(self._insert, document))

    async def _insert(self, document: Document, session: ClientSession) -> Any:
        result = await self._stored.insert_one(document, session=session)
        await self._record({}, {document["_id"]: document}, session)
        return result

    async def update_one(self, condition: Document, *change: Any, **options: Any) -> Any:
        return await self._write(self._stored.update_one, condition, *change, **options)

    async def update_many(self, condition: Document, *change: Any, **options: Any) -> Any:
        matched = modified = 0
        async for result in self._write_pieces(self._stored.update_many, condition, *change, **options):
            matched, modified = matched + result.matched_count, modified + result.modified_count
        return UpdateResult({"n": matched, "nModified": modified}, acknowledged=True)

    async def replace_one(self, condition: Document, *change: Any, **options: Any) -> Any:
        return await self._write(self._stored.replace_one, condition, *change, **options)

    async def delete_one(self, condition: Document, **options: Any) -> Any:
        return await self._write(self._stored.delete_one, condition, **options)

    async def delete_many(self, condition: Document, **options: Any) -> Any:
        deleted = 0
        async for result in self._write_pieces(self._stored.delete_many, condition, **options):
            deleted += result.deleted_count
        return DeleteResult({"n": deleted}, acknowledged=True)

    async def find_one_and_update(self, condition: Document, *change: Any, **options: Any) -> Any:
        return await self._write(self._stored.find_one_and_update, condition, *change, **options)

    async def find_one_and_delete(self, condition: Document, **options: Any) -> Any:
        return await self._write(self._stored.find_one_and_delete, condition, **options)

    async def insert_many(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("write them by another method, or with `unrecorded`")

    bulk_write = find_one_and_replace = insert_many

    async def _write(
        self,
        write: Callable[..., Awaitable[Any]],
        condition: Document,
        *change: Any,
        session: ClientSession | None = None,
        **options: Any,
    ) -> Any:
        async def work(session: ClientSession) -> Any:
            found = await self._stored.find_one(condition, sort=options.get("sort"), session=session)
            before = {found["_id"]: found} if found else {}
            # Of several documents that fit, the one that was read: else the entry would be of another one.
            chosen = condition | {"_id": found["_id"]} if found else condition
            result = await write(chosen, *change, session=session, **options)
            after = await self._after(before, result, session)
            if options.get("upsert") and not after:  # what find_one_and_update made, and did not return
                after = await self._find(condition, session)
            await self._record(before, after, session)
            return result

        return await self._run(session, work)

    async def _write_pieces(
        self,
        write: Callable[..., Awaitable[Any]],
        condition: Document,
        *change: Any,
        session: ClientSession | None = None,
    ) -> AsyncIterator[Any]:
        """Write all documents that fit, so many at a time that those in memory have a few megabytes.

        They are all written in the caller's transaction; without one, each piece has its own.
        """
        async for ids in self._pieces(condition, session):
            yield await self._run(
                session, partial(self._write_piece, write, condition | {"_id": ids}, change)
            )

    async def _write_piece(
        self,
        write: Callable[..., Awaitable[Any]],
        condition: Document,
        change: Sequence[Any],
        session: ClientSession,
    ) -> Any:
        before = await self._find(condition, session)
        result = await write(condition, *change, session=session)
        await self._record(before, await self._after(before, result, session), session)
        return result

    async def _pieces(self, condition: Document, session: ClientSession | None) -> AsyncIterator[Document]:
        """Queries for the ids of all documents that fit now, of a piece each."""
        # Read before the first is written: what is written may move within the index that is read.
        read = {"_id": 1, "bytes": {"$bsonSize": "$$ROOT"}}
        found = [
            (document["_id"], document["bytes"])
            async for document in self._stored.find(condition, read, session=session)
        ]
        ids: list[Any] = []
        piece_bytes = 0
        for document_id, document_bytes in found:
            if ids and piece_bytes + document_bytes > PIECE_BYTES:
                yield {"$in": ids}
                ids, piece_bytes = [], 0
            ids.append(document_id)
            piece_bytes += document_bytes
        if ids:
            yield {"$in": ids}

    async def _run(
        self, session: ClientSession | None, work: Callable[[ClientSession], Awaitable[Any]]
    ) -> Any:
        """Do the work in the caller's transaction, or in one of its own."""
        if session is not None:
            return await work(session)

        async def begin(session: ClientSession) -> Any:
            return await work(session)

        return await in_transaction(self._database, begin)

    async def _after(
        self, before: Mapping[Any, Document], result: Any, session: ClientSession
    ) -> dict[Any, Document]:
        """The documents that were there, and the one that was made, as they are now."""
        made = getattr(result, "upserted_id", None)
        if made is None and not before and isinstance(result, dict):  # by find_one_and_update
            made = result["_id"]
        ids = [*before, *([] if made is None else [made])]
        return await self._find({"_id": {"$in": ids}}, session) if ids else {}

    async def _find(self, condition: Document, session: ClientSession) -> dict[Any, Document]:
        cursor = self._stored.find(condition, session=session)
        return {document["_id"]: document async for document in cursor}

    async def _record(
        self, before: Mapping[Any, Document], after: Mapping[Any, Document], session: ClientSession
    ) -> None:
        facts: dict[OrgId, list[Fact]] = {}
        for document_id in {**before, **after}:
            states = (self._counting(before.get(document_id)), self._counting(after.get(document_id)))
            user = await self._user_of(states, session)
            for org_id in self._owners(states, user):
                if fact := self._fact(org_id, states, user):
                    facts.setdefault(org_id, []).append(fact)
        await note_facts(self._database, session, facts)

    def _counting(self, document: Document | None) -> Document | None:
        return document if document and self._audited.counts(document) else None

    async def _user_of(self, states: _States, session: ClientSession) -> Document | None:
        """The user whose document it is, where it is a user's."""
        document = states[1] or states[0]
        if self._audited.of_user is None or document is None:
            return None
        user_id = document[self._audited.of_user]
        return await self._database[users.NAME].find_one({"_id": user_id}, session=session)

    def _owners(self, states: _States, user: Document | None) -> Sequence[OrgId]:
        """The organizations whose logs have the change."""
        if user:
            only = self._audited.within(states[1] or states[0] or {})
            return user["org_ids"] if only is None else [only]
        owned_by = self._collection.owned_by
        if not isinstance(owned_by, Owned):  # and the user is gone
            return []
        owners = (org_id for state in states if state for org_id in owned_by.owners_of(state))
        return list(dict.fromkeys(owners))

    def _fact(self, org_id: OrgId, states: _States, user: Document | None) -> Fact | None:
        """What an organization's log says of the change of a document; None where it shows nothing."""
        audited, owned_by = self._audited, self._collection.owned_by
        before, after = (
            state
            if state and (not isinstance(owned_by, Owned) or org_id in owned_by.owners_of(state))
            else None
            for state in states
        )
        was, is_now = (state and audited.values_of(state, org_id) for state in (before, after))
        old, new = difference(was, is_now, audited.hidden)
        if before and after and not old and not new:
            return None
        document = after or before or {}
        target = (
            AuditTarget(audited.kind, user["_id"], user["email"])
            if user
            else AuditTarget(audited.kind, own_id(document["_id"], org_id), audited.name_of(document))
        )
        return recorded_fact(audited.action(before, after, {**(old or {}), **(new or {})}), target, old, new)


def own_id(document_id: Any, org_id: OrgId) -> str:
    """The id of a document without the organization's, which it may begin with."""
    return str(document_id).removeprefix(f"{org_id}/")
