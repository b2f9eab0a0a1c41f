"""What the recording database adds to the audit log."""

from __future__ import annotations

import tracemalloc
import uuid

import pytest

from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.ids import OrgId
from backend.storage.accounts.announced_deletions import announce_deletion, find_announced
from backend.storage.audit import recording as module
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.outbox import entries
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization


class Fault(Exception):
    """Ends a transaction."""


async def test_a_change_and_its_entry_are_stored_together(
    database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the transaction fails behind them, or the entry can't be added, neither of them is there."""
    own_id = organization.id

    async def fail(*_: object) -> None:
        raise Fault

    async def work(session: ClientSession) -> None:
        announced = {"_id": own_id, "asked_by": "ada@shop.example", "asked_at": utc_now()}
        await database["announced_deletions"].insert_one(announced, session=session)
        await fail()

    with pytest.raises(Fault):
        await in_transaction(database, work)
    with monkeypatch.context() as patch:
        patch.setattr(module, "note_facts", fail)
        with pytest.raises(Fault):
            await announce_deletion(database, own_id, "ada@shop.example", utc_now())
    assert await find_announced(database, own_id) is None
    assert await database[entries.NAME].count_documents({"org_id": own_id}) == 0
    await announce_deletion(database, own_id, "ada@shop.example", utc_now())
    assert await database[entries.NAME].count_documents({"org_id": own_id}) == 1


def test_a_collection_that_is_recorded_has_no_second_handle(database: Database) -> None:
    """Whoever wants other options of an audited collection says that its writes are not recorded."""
    with pytest.raises(NotImplementedError, match="unrecorded"):
        database.get_collection(ANNOTATIONS.collection)
    assert unrecorded(database).get_collection(ANNOTATIONS.collection).name == ANNOTATIONS.collection


async def entries_about(database: Database, org_id: OrgId) -> list[tuple[str, str]]:
    """The action and the target's id of each entry, in no order."""
    found = database[entries.NAME].find({"org_id": org_id})
    return [(fact["action"], fact["target"]["id"]) async for entry in found for fact in entry["facts"]]


async def some_notes(database: Database, org_id: OrgId, texts: list[str], size: int = 0) -> list[str]:
    """Notes with these texts and of so many bytes, which nobody was recorded to make. Returns their ids."""
    made = [{"_id": str(uuid.uuid4()), "org_id": org_id, "text": text, "more": "x" * size} for text in texts]
    await unrecorded(database)[ANNOTATIONS.collection].insert_many(made)
    return [str(note["_id"]) for note in made]


@pytest.mark.parametrize("descending", [False, True])
async def test_of_several_documents_the_one_that_was_written_is_recorded(
    database: Database, organization: TestOrganization, descending: bool
) -> None:
    """Also where the caller's order says which one it is."""
    ids = await some_notes(database, organization.id, ["b", "a", "c"])
    own, order = {"org_id": organization.id}, [("text", -1 if descending else 1)]
    stored = database[ANNOTATIONS.collection]
    changed = await stored.find_one_and_update(own, {"$set": {"link_id": "1"}}, sort=order)
    deleted = await stored.find_one_and_delete(own, sort=order)
    assert changed["text"] == deleted["text"] == ("c" if descending else "a")
    await stored.update_one(own, {"$set": {"link_id": "2"}})
    await stored.delete_one(own)
    [left] = [note["_id"] async for note in stored.find(own)]
    recorded = await entries_about(database, organization.id)
    assert recorded[:2] == [("note.changed", changed["_id"]), ("note.deleted", deleted["_id"])]
    assert sorted(target for action, target in recorded if action == "note.deleted") == sorted(
        {*ids} - {left}
    )
    assert len(recorded) == 4


@pytest.mark.parametrize("in_a_transaction", [False, True])
async def test_many_large_documents_are_written_in_pieces(
    database: Database, organization: TestOrganization, in_a_transaction: bool
) -> None:
    """All of them are written and recorded, and only few are in memory at a time."""
    ids = await some_notes(database, organization.id, ["x"] * 16, size=1_000_000)
    own = {"org_id": organization.id}
    stored = database[ANNOTATIONS.collection]

    async def work(session: ClientSession | None) -> tuple[int, int, int]:
        none = await stored.delete_many(own | {"text": "none"}, session=session)
        changed = await stored.update_many(own, {"$set": {"link_id": "1"}}, session=session)
        again = await stored.update_many(own, {"$set": {"link_id": "1"}}, session=session)
        deleted = await stored.delete_many(own | {"link_id": "1"}, session=session)
        assert (none.deleted_count, again.matched_count, again.modified_count) == (0, 16, 0)
        return changed.matched_count, changed.modified_count, deleted.deleted_count

    tracemalloc.start()
    try:
        written = await (in_transaction(database, work) if in_a_transaction else work(None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written == (16, 16, 16)
    assert peak < 8_000_000
    assert await stored.count_documents(own) == 0
    recorded = await entries_about(database, organization.id)
    assert sorted(recorded) == sorted(
        (action, note_id) for action in ("note.changed", "note.deleted") for note_id in ids
    )
