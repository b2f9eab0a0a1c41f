"""The `click_blocks` collection: the clicks of each organization, many in a document (domain/clicks/block).

A block is stored once: its id names the click log and the position that it comes from, and its receipt
(domain/ledger/receipts) is noted in the organization's feed. It stays until the organization's `click_days`
have passed (storage/clicks/expired_days). A block that was merged from others has their ids and numbers of
clicks in `parts`, in the order of their clicks in the merged block.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC
from typing import NamedTuple

from bson import Binary
from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.clicks.block import Block, blocks_of
from backend.domain.clicks.clicks import Click
from backend.domain.feed.facts import Fact, clicks_fact, opens_fact
from backend.domain.ids import OrgId
from backend.domain.ledger.receipts import Receipt
from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.apps.deferred_links import add_handoffs
from backend.storage.clicks.logs import AlreadyShipped, LogHead, LogPutBack, Moved, advance, find_head
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, until_confirmed
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy, note_blocking
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "click_blocks"
SMALL_BLOCKS = "small_blocks"  # the index of small blocks
# Blocks with fewer clicks are merged with others of their day.
SMALL_BLOCK_CLICKS = 2_000
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("last_at", 1)]),
        # With `is_small`, small blocks are counted without a look at them.
        IndexModel(
            [("org_id", 1), ("first_at", 1), ("is_small", 1)],
            partialFilterExpression={"is_small": True},
            name=SMALL_BLOCKS,
        ),
        IndexModel("is_unreadable", partialFilterExpression={"is_unreadable": True}, name="unreadable"),
        IndexModel([("org_id", 1), ("parts.id", 1)], partialFilterExpression={"parts.id": {"$exists": True}}),
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("a click names neither an address nor a device nor a customer"),
    retention=NoRetention("it names nobody; an organization's click_days say how long single clicks stay"),
    archived=Stage.HISTORY,
    # An organization's blocks are read by time, and its id is the beginning of theirs.
    shard_key={"org_id": 1, "_id": 1},
    audited=NotAudited("it is no change by anybody, but what happened"),
)
_logger = logging.getLogger(__name__)


class BlocksChanged(Exception):
    """Somebody else has merged, changed or deleted the same blocks meanwhile. Nothing was changed."""


async def ship_blocks(
    database: Database,
    log_id: str,
    begin: LogHead,
    end: int,
    blocks: Sequence[Block],
    *,
    handoffs: Sequence[Click] = (),
) -> LogHead:
    """Store the blocks of a stretch of a click log, from `begin` to byte `end`: all of them, and only once.

    `handoffs` are those of the clicks that lead to an app. Clicks of deleted organizations are left out.
    Returns the new head of the log. Raises AlreadyShipped if the log was already stored further than
    `begin`, and LogPutBack if the database does not have it so far any more; then nothing changes. After a
    StorageError, either nothing was stored or the next try raises AlreadyShipped.
    """
    start = begin.position
    hashes: dict[OrgId, str] = {}
    deleted: set[OrgId] = set()

    async def work(session: ClientSession) -> None:
        nonlocal hashes, deleted
        deleted = await find_deleted(database, {block.org_id for block in blocks}, session)
        new_blocks = [block for block in blocks if block.org_id not in deleted]
        receipts = _chained(new_blocks, f"{log_id}/{start}", begin.hashes)
        hashes = {org_id: receipt.hash(org_id) for org_id, receipt in receipts}
        await advance(database, session, log_id, start, LogHead(end, hashes))
        await _insert(database, session, new_blocks, receipts)
        await add_handoffs(database, session, [click for click in handoffs if click.org_id not in deleted])

    while True:
        try:
            await in_transaction(database, work)
        except (DuplicateKeyError, Moved):
            await until_confirmed(database)
        else:
            _log_left_out(blocks, deleted)
            last_hashes = {**begin.hashes, **hashes}
            return LogHead(
                end, {org_id: last_hash for org_id, last_hash in last_hashes.items() if org_id not in deleted}
            )
        if (head := await find_head(database, log_id)).position > start:
            raise AlreadyShipped(head)
        if head.position < start:
            raise LogPutBack(head)


def add_opens(database: BlockingDatabase, session: BlockingSession, clicks: Iterable[Click]) -> None:
    """Store opens of apps as blocks, and note them in the feed, in the caller's transaction.

    The caller sees to it that each is stored once. The blocks are as those of a click log that is used once.
    """
    blocks = blocks_of(clicks)
    if not blocks:
        return
    receipts = _chained(blocks, f"{uuid.uuid4().hex}/0", {})
    database[NAME].insert_many(_documents(blocks, receipts), session=session)
    note_blocking(database, session, _facts(receipts, opens_fact), AgesBy.CLICKS)


async def delete_unchanged(
    database: Database, session: ClientSession, org_id: OrgId, blocks: Iterable[Document]
) -> None:
    """Delete these blocks in the caller's transaction. Raises BlocksChanged unless they are as read."""
    packed_by_id = {block["_id"]: block["packed"] for block in blocks}
    query = {"org_id": org_id, "_id": {"$in": list(packed_by_id)}}
    stored = database[NAME].find(query, {"packed": 1}, session=session)
    if {block["_id"]: block["packed"] async for block in stored} != packed_by_id:
        raise BlocksChanged
    await database[NAME].delete_many(query, session=session)


async def count_unreadable_blocks(database: Database) -> int:
    """How many blocks can't be read, so that their clicks are not counted."""
    return await database[NAME].count_documents({"is_unreadable": True})


async def mark_unreadable(database: Database, block_ids: Sequence[str]) -> None:
    """Mark these blocks as unreadable: `waylink doctor` reports them, and exports leave them out.

    They are neither merged nor deleted.
    """
    await database[NAME].update_many(
        {"_id": {"$in": list(block_ids)}}, {"$set": {"is_unreadable": True}, "$unset": {"is_small": 1}}
    )


def fields_of(block: Block) -> Document:
    """The fields of a block's document that follow from its clicks."""
    small = {"is_small": True} if block.clicks < SMALL_BLOCK_CLICKS else {}
    return {
        "org_id": block.org_id,
        "clicks": block.clicks,
        "first_at": block.first_at,
        "last_at": block.last_at,
        "packed": Binary(block.packed),
        **small,
    }


class Part(NamedTuple):
    """A block as it was stored first: its id without the organization's, and how many clicks it has."""

    id: str
    clicks: int


def parts_of(document: Document) -> list[Part]:
    """The blocks that this one was merged from, in the order of their clicks; else the block itself."""
    if "parts" in document:
        return [Part(part["id"], part["clicks"]) for part in document["parts"]]
    return [Part(document["_id"].partition("/")[2], document["clicks"])]


def blocks_with(org_id: OrgId, own_ids: Sequence[str]) -> Document:
    """The query for the documents with the clicks of these blocks, merged or not (`parts_of`)."""
    unmerged: Document = {"_id": {"$in": [f"{org_id}/{own_id}" for own_id in own_ids]}}
    merged: Document = {"org_id": org_id, "parts.id": {"$in": list(own_ids)}}
    return {"$or": [unmerged, merged]}


def merged_parts(parts: Iterable[Part]) -> list[Document]:
    """The field `parts` of a block that was merged from these."""
    return [part._asdict() for part in parts]


def _log_left_out(blocks: Sequence[Block], deleted: set[OrgId]) -> None:
    """Log how many clicks of deleted organizations were left out."""
    for org_id in deleted:
        left_out = sum(block.clicks for block in blocks if block.org_id == org_id)
        _logger.info("%s clicks are of the organization %s, which was deleted", left_out, org_id)


def _chained(blocks: Sequence[Block], place: str, hashes: Mapping[OrgId, str]) -> list[tuple[OrgId, Receipt]]:
    """The receipts of these blocks with their organizations; `hashes` are those before them in the log."""
    last_hashes, receipts = dict(hashes), []
    for block in blocks:
        day = f"{block.first_at.astimezone(UTC):%Y-%m-%d}"
        counted, content = block.content
        receipt = Receipt(f"{place}/{day}", block.clicks, counted, content, last_hashes.get(block.org_id))
        last_hashes[block.org_id] = receipt.hash(block.org_id)
        receipts.append((block.org_id, receipt))
    return receipts


async def _insert(
    database: Database,
    session: ClientSession,
    blocks: Sequence[Block],
    receipts: Sequence[tuple[OrgId, Receipt]],
) -> None:
    """Store the blocks and note them in the feed, in the caller's transaction."""
    if not blocks:
        return
    await database[NAME].insert_many(_documents(blocks, receipts), session=session)
    await entries.note(database, session, _facts(receipts, clicks_fact), AgesBy.CLICKS)


def _documents(blocks: Sequence[Block], receipts: Sequence[tuple[OrgId, Receipt]]) -> list[Document]:
    return [
        {"_id": f"{org_id}/{receipt.block}", **fields_of(block)}
        for block, (org_id, receipt) in zip(blocks, receipts, strict=True)
    ]


def _facts(
    receipts: Iterable[tuple[OrgId, Receipt]], fact_of: Callable[[Receipt], Fact]
) -> dict[OrgId, list[Fact]]:
    """The facts of these blocks, by organization."""
    facts: dict[OrgId, list[Fact]] = {}
    for org_id, receipt in receipts:
        facts.setdefault(org_id, []).append(fact_of(receipt))
    return facts


def log_place(block_id: str) -> tuple[str, int] | None:
    """The click log and the position that a block's id names; None for a merged block."""
    match block_id.split("/"):
        case [_, log_id, start, _] if start.isdecimal() and start.isascii():
            return log_id, int(start)
    return None
