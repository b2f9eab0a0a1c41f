"""Reads single clicks out of blocks, a few blocks at a time, however many there are.

Days in UTC are read one after the other. Merging replaces small blocks of a day by a larger one, so the list
of a day's blocks and its small blocks are read in one snapshot.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.block import MOST_CLICKS, Columns, UnreadableBlock, unpack
from backend.domain.clicks.rows import RowFormat, Selection, head, rows
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks.blocks import NAME, SMALL_BLOCK_CLICKS, Part, mark_unreadable, parts_of
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.links.links import find_short_urls

# The most blocks of a batch. A batch has about as many clicks as one large block.
_BLOCKS_PER_BATCH = 500
# Links whose short URLs are kept while clicks are read.
_MOST_CACHED_LINKS = 20_000
_DAY = timedelta(days=1)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _PackedBlock:
    """A block as it is stored."""

    id: str
    clicks: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class UnreadableBlocks:
    """Blocks that can't be read: the number of requests of each, by its id."""

    clicks_of: Mapping[str, int] = field(default_factory=dict)

    @property
    def clicks(self) -> int:
        """How many requests all of these blocks have."""
        return sum(self.clicks_of.values())

    def __or__(self, other: UnreadableBlocks) -> UnreadableBlocks:
        return UnreadableBlocks({**self.clicks_of, **other.clicks_of})


class MoreUnreadable(Exception):
    """All readable clicks were written. Other clicks are in `blocks`, which were found to be unreadable."""

    def __init__(self, blocks: UnreadableBlocks) -> None:
        super().__init__(f"{blocks.clicks} clicks can't be read")
        self.blocks = blocks


async def find_unreadable(database: Database, org_id: OrgId, selection: Selection) -> UnreadableBlocks:
    """The blocks of this time that are known to be unreadable, of whichever links."""
    query = {"is_unreadable": True, "org_id": org_id, **_between(selection.start, selection)}
    cursor = database[NAME].find(query, {"clicks": 1})
    return UnreadableBlocks({block["_id"]: block["clicks"] async for block in cursor})


async def find_unreadable_parts(database: Database, org_id: OrgId, selection: Selection) -> list[Part]:
    """The same blocks, before they were merged with others."""
    query = {"is_unreadable": True, "org_id": org_id, **_between(selection.start, selection)}
    cursor = database[NAME].find(query, {"clicks": 1, "parts": 1})
    return [part async for block in cursor for part in parts_of(block)]


async def written_clicks(
    database: Database,
    org_id: OrgId,
    selection: Selection,
    form: RowFormat,
    url_form: ShortUrlForm,
    *,
    unreadable: UnreadableBlocks | None = None,
) -> AsyncGenerator[bytes, None]:
    """The organization's clicks as a file, in pieces of about ten thousand clicks at most.

    Days in UTC come in order. Within a day, rows that were stored together come together, sorted by time.
    Blocks in `unreadable` are left out. Other blocks that can't be read are marked, and at the end
    MoreUnreadable is raised. Raises StorageError; then the file is not complete.
    """
    short_urls = _ShortUrls(database, org_id, url_form)
    damaged: dict[str, int] = {}
    yield head(form).encode()
    async with aclosing(_read(database, org_id, selection, unreadable or UnreadableBlocks())) as batches:
        async for batch in batches:
            blocks = await LONG_WORK.run(org_id, partial(_unpacked, batch, selection, damaged))
            short = await short_urls.of({link_id for block in blocks for link_id in block.links})
            piece = await LONG_WORK.run(org_id, partial(_written, blocks, selection, short, form))
            if piece:
                yield piece
    if damaged:
        await mark_unreadable(database, list(damaged))
        raise MoreUnreadable(UnreadableBlocks(damaged))


def _unpacked(batch: Sequence[_PackedBlock], selection: Selection, damaged: dict[str, int]) -> list[Columns]:
    """The blocks with clicks of the selected link, or all of them. Adds unreadable ones to `damaged`."""
    blocks = []
    for packed_block in batch:
        try:
            blocks.append(unpack(packed_block.packed))
        except UnreadableBlock as error:
            _logger.error("The block %s of clicks can't be read: %s", packed_block.id, error)
            damaged[packed_block.id] = packed_block.clicks
    return [block for block in blocks if selection.link_id is None or selection.link_id in block.links]


def _written(
    blocks: Iterable[Columns], selection: Selection, short_urls: dict[LinkId, str], form: RowFormat
) -> bytes:
    return "".join(row for block in blocks for row in rows(block, selection, short_urls, form)).encode()


async def _read(
    database: Database, org_id: OrgId, selection: Selection, unreadable: UnreadableBlocks
) -> AsyncGenerator[list[_PackedBlock], None]:
    """The blocks that may have clicks of the selection, in batches. No cursor stays open between these."""
    start = selection.start
    while (day := await _next_day(database, org_id, start, selection.end)) is not None:
        async with await database.client.start_session(snapshot=True) as session:
            small, large = await _blocks_of_day(database, session, org_id, day, selection)
            for block_ids in _batches(small, unreadable):
                yield await _packed(database, block_ids, session)
        for block_ids in _batches(large, unreadable):
            yield await _packed(database, block_ids)
        start = day + _DAY


async def _next_day(database: Database, org_id: OrgId, start: datetime, end: datetime) -> datetime | None:
    """The first day that has a block with clicks at `start` or later, if it begins before `end`."""
    query = {"org_id": org_id, "last_at": {"$gte": start}}
    first_block = await database[NAME].find_one(query, {"last_at": 1, "_id": 0}, sort=[("last_at", 1)])
    if first_block is None:
        return None
    last_at: datetime = first_block["last_at"]
    day = last_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day if day < end else None


async def _blocks_of_day(
    database: Database, session: ClientSession, org_id: OrgId, day: datetime, selection: Selection
) -> tuple[list[Document], list[Document]]:
    """The ids and sizes of the day's blocks, small ones and large ones, in the order of their last clicks."""
    query = {"org_id": org_id, **_between(max(day, selection.start), selection)}
    query["last_at"] |= {"$lt": day + _DAY}
    cursor = database[NAME].find(query, {"clicks": 1}, session=session).sort("last_at", 1)
    small: list[Document] = []
    large: list[Document] = []
    async for block in cursor:
        (small if block["clicks"] < SMALL_BLOCK_CLICKS else large).append(block)
    return small, large


def _between(start: datetime, selection: Selection) -> Document:
    """The query for blocks with clicks from `start` to the selection's end."""
    return {"last_at": {"$gte": start}, "first_at": {"$lt": selection.end}}


def _batches(blocks: Sequence[Document], unreadable: UnreadableBlocks) -> Iterable[list[str]]:
    """The ids of the blocks in batches, without unreadable ones."""
    batch: list[str] = []
    clicks = 0
    for block in blocks:
        if block["_id"] in unreadable.clicks_of:
            continue
        if batch and (clicks + block["clicks"] > MOST_CLICKS or len(batch) == _BLOCKS_PER_BATCH):
            yield batch
            batch, clicks = [], 0
        batch.append(block["_id"])
        clicks += block["clicks"]
    if batch:
        yield batch


async def _packed(
    database: Database, block_ids: Sequence[str], session: ClientSession | None = None
) -> list[_PackedBlock]:
    fields = {"packed": 1, "clicks": 1}
    cursor = database[NAME].find({"_id": {"$in": block_ids}}, fields, session=session)
    blocks_by_id = {
        block["_id"]: _PackedBlock(block["_id"], block["clicks"], bytes(block["packed"]))
        async for block in cursor
    }
    return [blocks_by_id[block_id] for block_id in block_ids if block_id in blocks_by_id]


class _ShortUrls:
    """The short URLs of an organization's links, read once for many clicks."""

    def __init__(self, database: Database, org_id: OrgId, url_form: ShortUrlForm) -> None:
        self._database = database
        self._org_id = org_id
        self._url_form = url_form
        self._cached: dict[LinkId, str] = {}

    async def of(self, link_ids: set[LinkId]) -> dict[LinkId, str]:
        """The short URLs of these links, and maybe of others; without links that no longer exist."""
        missing = link_ids - self._cached.keys()
        if len(self._cached) + len(missing) > _MOST_CACHED_LINKS:
            self._cached, missing = {}, link_ids
        if missing:
            self._cached |= await find_short_urls(self._database, self._org_id, missing, self._url_form)
        return self._cached
