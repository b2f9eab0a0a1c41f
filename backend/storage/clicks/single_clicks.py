"""Reads single clicks out of blocks, a few blocks at a time, however many there are.

Days in UTC are read one after the other. Blocks are of one day, and merging replaces small blocks of a day by
a larger one; so the list of a day's blocks, and its small blocks, are read as they were at one moment.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.clicks.block import MOST_CLICKS, Columns, UnreadableBlock, unpack
from backend.domain.clicks.rows import RowFormat, Selection, head, rows
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks.blocks import NAME, SMALL, Part, mark_unreadable, parts_of
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.links.links import find_short_urls

# Blocks that are read at a time have about as many clicks as one large block, and are at most so many.
_MOST_BLOCKS = 500
# Links whose short URLs are kept while clicks are read.
_MOST_LINKS = 20_000
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
    """Blocks that can't be read: how many requests each has, by its id."""

    clicks_of: Mapping[str, int] = field(default_factory=dict)

    @property
    def clicks(self) -> int:
        """How many requests they have."""
        return sum(self.clicks_of.values())

    def __or__(self, other: UnreadableBlocks) -> UnreadableBlocks:
        return UnreadableBlocks({**self.clicks_of, **other.clicks_of})


class MoreUnreadable(Exception):
    """All clicks that can be read were written; others are in blocks that were `found` damaged."""

    def __init__(self, found: UnreadableBlocks) -> None:
        super().__init__(f"{found.clicks} clicks can't be read")
        self.found = found


async def find_unreadable(database: Database, org_id: OrgId, selection: Selection) -> UnreadableBlocks:
    """The blocks of this time that are known to be unreadable, of whichever links."""
    wanted = {"is_unreadable": True, "org_id": org_id, **_between(selection.start, selection)}
    found = database[NAME].find(wanted, {"clicks": 1})
    return UnreadableBlocks({each["_id"]: each["clicks"] async for each in found})


async def find_unreadable_parts(database: Database, org_id: OrgId, selection: Selection) -> list[Part]:
    """The same blocks as they were stored first."""
    wanted = {"is_unreadable": True, "org_id": org_id, **_between(selection.start, selection)}
    found = database[NAME].find(wanted, {"clicks": 1, "parts": 1})
    return [part async for each in found for part in parts_of(each)]


async def written_clicks(
    database: Database,
    org_id: OrgId,
    selection: Selection,
    form: RowFormat,
    url_form: ShortUrlForm,
    *,
    known: UnreadableBlocks | None = None,
) -> AsyncGenerator[bytes, None]:
    """The organization's clicks as a file, in pieces of about ten thousand clicks at most.

    Days in UTC come in order. Within a day, rows that were stored together come together, sorted by time.
    What is `known` to be unreadable is left out. Raises MoreUnreadable at the end where other blocks could
    not be read, which are marked, and StorageError: then the file is not complete.
    """
    short_urls = _ShortUrls(database, org_id, url_form)
    damaged: dict[str, int] = {}
    yield head(form).encode()
    async with aclosing(_read(database, org_id, selection, known or UnreadableBlocks())) as parts:
        async for part in parts:
            blocks = await beside_the_loop(partial(_unpacked, part, selection, damaged))
            short = await short_urls.of({each for block in blocks for each in block.links})
            piece = await beside_the_loop(partial(_written, blocks, selection, short, form))
            if piece:
                yield piece
    if damaged:
        await mark_unreadable(database, list(damaged))
        raise MoreUnreadable(UnreadableBlocks(damaged))


def _unpacked(part: Sequence[_PackedBlock], selection: Selection, damaged: dict[str, int]) -> list[Columns]:
    """The blocks that have the link's clicks, if one is selected. Notes those that can't be read."""
    blocks = []
    for each in part:
        try:
            blocks.append(unpack(each.packed))
        except UnreadableBlock as error:
            _logger.error("The block %s of clicks can't be read: %s", each.id, error)
            damaged[each.id] = each.clicks
    return [block for block in blocks if selection.link_id is None or selection.link_id in block.links]


def _written(
    blocks: Iterable[Columns], selection: Selection, short_urls: dict[LinkId, str], form: RowFormat
) -> bytes:
    return "".join(row for block in blocks for row in rows(block, selection, short_urls, form)).encode()


async def _read(
    database: Database, org_id: OrgId, selection: Selection, known: UnreadableBlocks
) -> AsyncGenerator[list[_PackedBlock], None]:
    """The blocks that may have clicks of the selection, some at a time. Nothing stays open between them."""
    start = selection.start
    while (day := await _next_day(database, org_id, start, selection.end)) is not None:
        async with await database.client.start_session(snapshot=True) as session:
            small, large = await _blocks_of_day(database, session, org_id, day, selection)
            for part in _parts(small, known):
                yield await _packed(database, part, session)
        for part in _parts(large, known):
            yield await _packed(database, part)
        start = day + _DAY


async def _next_day(database: Database, org_id: OrgId, start: datetime, end: datetime) -> datetime | None:
    """The first day that has a block with clicks at `start` or later, if it begins before `end`."""
    wanted = {"org_id": org_id, "last_at": {"$gte": start}}
    found = await database[NAME].find_one(wanted, {"last_at": 1, "_id": 0}, sort=[("last_at", 1)])
    if found is None:
        return None
    last_at: datetime = found["last_at"]
    day = last_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day if day < end else None


async def _blocks_of_day(
    database: Database, session: ClientSession, org_id: OrgId, day: datetime, selection: Selection
) -> tuple[list[Document], list[Document]]:
    """The ids and sizes of the day's blocks, small ones and large ones, in the order of their last clicks."""
    wanted = {"org_id": org_id, **_between(max(day, selection.start), selection)}
    wanted["last_at"] |= {"$lt": day + _DAY}
    cursor = database[NAME].find(wanted, {"clicks": 1}, session=session).sort("last_at", 1)
    small: list[Document] = []
    large: list[Document] = []
    async for found in cursor:
        (small if found["clicks"] < SMALL else large).append(found)
    return small, large


def _between(start: datetime, selection: Selection) -> Document:
    """The query for blocks with clicks from `start` to the selection's end."""
    return {"last_at": {"$gte": start}, "first_at": {"$lt": selection.end}}


def _parts(blocks: Sequence[Document], known: UnreadableBlocks) -> Iterable[list[str]]:
    """The ids of the blocks, some at a time, without those that are known to be unreadable."""
    part: list[str] = []
    clicks = 0
    for block in blocks:
        if block["_id"] in known.clicks_of:
            continue
        if part and (clicks + block["clicks"] > MOST_CLICKS or len(part) == _MOST_BLOCKS):
            yield part
            part, clicks = [], 0
        part.append(block["_id"])
        clicks += block["clicks"]
    if part:
        yield part


async def _packed(
    database: Database, block_ids: Sequence[str], session: ClientSession | None = None
) -> list[_PackedBlock]:
    fields = {"packed": 1, "clicks": 1}
    cursor = database[NAME].find({"_id": {"$in": block_ids}}, fields, session=session)
    blocks = {
        found["_id"]: _PackedBlock(found["_id"], found["clicks"], bytes(found["packed"]))
        async for found in cursor
    }
    return [blocks[each] for each in block_ids if each in blocks]


class _ShortUrls:
    """The short URLs of an organization's links, read once for many clicks."""

    def __init__(self, database: Database, org_id: OrgId, url_form: ShortUrlForm) -> None:
        self._database = database
        self._org_id = org_id
        self._url_form = url_form
        self._known: dict[LinkId, str] = {}

    async def of(self, link_ids: set[LinkId]) -> dict[LinkId, str]:
        """Those of these links at least; without those that no longer exist."""
        missing = link_ids - self._known.keys()
        if len(self._known) + len(missing) > _MOST_LINKS:
            self._known, missing = {}, link_ids
        if missing:
            self._known |= await find_short_urls(self._database, self._org_id, missing, self._url_form)
        return self._known
