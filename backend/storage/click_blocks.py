"""The `click_blocks` collection: the clicks of each organization, many in a document (domain/click_block).

A block is stored once: its id names the click log and the position that it comes from. It is `folded` once
its clicks are in the rollups, and expires when the organization's `click_days` have passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from bson import Binary
from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.click_block import Block
from backend.domain.clicks import Click
from backend.domain.feed.facts import Fact, clicks_fact
from backend.domain.ids import OrgId
from backend.storage.click_logs import AlreadyShipped, Moved, advance, shipped_position
from backend.storage.collection import EXPIRY_INDEX, Collection, NoRetention, NotPersonal, Stage
from backend.storage.deferred_links import add_handoffs
from backend.storage.feed import entries
from backend.storage.feed.entries import AgesBy
from backend.storage.mongo import ClientSession, Database, Document, in_transaction, until_confirmed
from backend.storage.ownership import ByIdPrefix

NAME = "click_blocks"
# Blocks with fewer clicks are merged with others of their day.
SMALL = 2_000
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("last_at", 1)]),
        IndexModel(
            [("org_id", 1), ("clicks", 1)], partialFilterExpression={"folded": False}, name="unfolded"
        ),
        IndexModel(
            [("org_id", 1), ("first_at", 1)], partialFilterExpression={"is_small": True}, name="small"
        ),
        IndexModel("is_unreadable", partialFilterExpression={"is_unreadable": True}, name="unreadable"),
        EXPIRY_INDEX,
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("a click names neither an address nor a device nor a customer"),
    retention=NoRetention("it names nobody; an organization's click_days say how long single clicks stay"),
    archived=Stage.HISTORY,
    # An organization's blocks are read by time, and its id is the beginning of theirs.
    shard_key={"org_id": 1, "_id": 1},
)


async def ship_blocks(
    database: Database,
    log_id: str,
    start: int,
    end: int,
    blocks: Sequence[Block],
    *,
    handoffs: Sequence[Click] = (),
) -> None:
    """Store what is between bytes `start` and `end` of a click log: all, and only once.

    `handoffs` are those of the clicks that lead to an app. Raises AlreadyShipped if the log was already
    stored beyond `start`; then nothing changes. After a StorageError, either nothing was stored or the next
    try raises AlreadyShipped.
    """
    documents = [_document(each, log_id, start, end) for each in blocks]

    async def work(session: ClientSession) -> None:
        await advance(database, session, log_id, start, end)
        if documents:
            await database[NAME].insert_many(documents, session=session)
            await entries.note(database, session, _facts(documents), AgesBy.CLICKS)
        await add_handoffs(database, session, handoffs)

    while True:
        try:
            await in_transaction(database, work)
        except (DuplicateKeyError, Moved):
            await until_confirmed(database)
        else:
            return
        if (position := await shipped_position(database, log_id)) > start:
            raise AlreadyShipped(position)


async def count_unreadable_blocks(database: Database) -> int:
    """How many blocks can't be read, so that their clicks are not counted."""
    return await database[NAME].count_documents({"is_unreadable": True})


async def mark_unreadable(database: Database, block_ids: Sequence[str], *, folded: bool = True) -> None:
    """Note that these blocks can't be read: `waylink doctor` tells of them, and exports leave them out.

    Those that are not `folded` yet never will be. Nothing of them is deleted.
    """
    await database[NAME].update_many(
        {"_id": {"$in": list(block_ids)}, "folded": folded},
        {"$set": {"folded": True, "is_unreadable": True}, "$unset": {"is_small": 1}},
    )


def fields_of(block: Block) -> Document:
    """The fields of a block's document that follow from its clicks."""
    small = {"is_small": True} if block.clicks < SMALL else {}
    return {
        "org_id": block.org_id,
        "clicks": block.clicks,
        "first_at": block.first_at,
        "last_at": block.last_at,
        "packed": Binary(block.packed),
        **small,
    }


def _document(block: Block, log_id: str, start: int, end: int) -> Document:
    return {
        "_id": f"{block.org_id}/{log_id}/{start}/{block.first_at.astimezone(UTC):%Y-%m-%d}",
        "log_id": log_id,
        "start": start,
        "end": end,
        **fields_of(block),
        "folded": False,
    }


def _facts(blocks: Sequence[Document]) -> dict[OrgId, list[Fact]]:
    facts: dict[OrgId, list[Fact]] = {}
    for block in blocks:
        org_id, _, own_id = block["_id"].partition("/")
        facts.setdefault(OrgId(org_id), []).append(clicks_fact(own_id, block["clicks"]))
    return facts


def log_place(block_id: str) -> tuple[str, int] | None:
    """The click log that a block's id names, and the position in it; None for a block that was merged."""
    match block_id.split("/"):
        case [_, log_id, start, _] if start.isdecimal() and start.isascii():
            return log_id, int(start)
    return None
