"""Reads single clicks out of blocks, a few blocks at a time, however many there are.

Days in UTC are read one after the other. Blocks are of one day, and merging replaces small blocks of a day by
a larger one; so the list of a day's blocks, and its small blocks, are read as they were at one moment.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import MOST_CLICKS, Columns, unpack
from backend.domain.click_rows import RowFormat, Selection, head, rows
from backend.domain.ids import LinkId, OrgId
from backend.domain.short_urls import ShortUrlForm
from backend.storage import links
from backend.storage.click_blocks import NAME, SMALL
from backend.storage.mongo import ClientSession, Database, Document

# Blocks that are read at a time have about as many clicks as one large block, and are at most so many.
_MOST_BLOCKS = 500
# Links whose short URLs are kept while clicks are read.
_MOST_LINKS = 20_000
_DAY = timedelta(days=1)


async def written_clicks(
    database: Database, org_id: OrgId, selection: Selection, form: RowFormat, url_form: ShortUrlForm
) -> AsyncGenerator[bytes, None]:
    """The organization's clicks as a file, in pieces of about ten thousand clicks at most.

    Days in UTC come in order. Within a day, rows that were stored together come together, sorted by time.
    Raises UnreadableBlock and StorageError: then the file is not complete.
    """
    short_urls = _ShortUrls(database, org_id, url_form)
    yield head(form).encode()
    async with aclosing(_read(database, org_id, selection)) as parts:
        async for packed in parts:
            blocks = await beside_the_loop(partial(_unpacked, packed, selection))
            known = await short_urls.of({each for block in blocks for each in block.links})
            piece = await beside_the_loop(partial(_written, blocks, selection, known, form))
            if piece:
                yield piece


def _unpacked(packed: Iterable[bytes], selection: Selection) -> list[Columns]:
    """The blocks that have the link's clicks, if one is selected."""
    blocks = map(unpack, packed)
    return [block for block in blocks if selection.link_id is None or selection.link_id in block.links]


def _written(
    blocks: Iterable[Columns], selection: Selection, short_urls: dict[LinkId, str], form: RowFormat
) -> bytes:
    return "".join(row for block in blocks for row in rows(block, selection, short_urls, form)).encode()


async def _read(database: Database, org_id: OrgId, selection: Selection) -> AsyncGenerator[list[bytes], None]:
    """The blocks that may have clicks of the selection, some at a time. Nothing stays open between them."""
    start = selection.start
    while (day := await _next_day(database, org_id, start, selection.end)) is not None:
        async with await database.client.start_session(snapshot=True) as session:
            small, large = await _blocks_of_day(database, session, org_id, day, selection)
            for part in _parts(small):
                yield await _packed(database, part, session)
        for part in _parts(large):
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
    last_at = {"$gte": max(day, selection.start), "$lt": day + _DAY}
    wanted = {"org_id": org_id, "last_at": last_at, "first_at": {"$lt": selection.end}}
    cursor = database[NAME].find(wanted, {"clicks": 1}, session=session).sort("last_at", 1)
    small: list[Document] = []
    large: list[Document] = []
    async for found in cursor:
        (small if found["clicks"] < SMALL else large).append(found)
    return small, large


def _parts(blocks: Sequence[Document]) -> Iterable[list[str]]:
    """The ids of the blocks, some at a time."""
    part: list[str] = []
    clicks = 0
    for block in blocks:
        if part and (clicks + block["clicks"] > MOST_CLICKS or len(part) == _MOST_BLOCKS):
            yield part
            part, clicks = [], 0
        part.append(block["_id"])
        clicks += block["clicks"]
    if part:
        yield part


async def _packed(
    database: Database, block_ids: Sequence[str], session: ClientSession | None = None
) -> list[bytes]:
    cursor = database[NAME].find({"_id": {"$in": block_ids}}, {"packed": 1}, session=session)
    packed = {found["_id"]: bytes(found["packed"]) async for found in cursor}
    return [packed[each] for each in block_ids if each in packed]


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
        wanted = {"_id": {"$in": list(missing)}, "org_id": self._org_id}
        if missing:
            async for found in self._database[links.NAME].find(wanted, {"domain": 1, "path": 1}):
                self._known[found["_id"]] = self._url_form.write(found["domain"], found["path"])
        return self._known
