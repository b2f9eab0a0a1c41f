"""The `link_deltas` collection: clicks that are counted, but not yet in the documents of their links.

A fold that touches many links would write a document for each, mostly for one click. It stores their clicks
here instead, in the same transaction: compressed as in a block, a document for each day and part of the links
(`part_of`). Whoever reads counts of links adds what is here (`with_deltas`); so these clicks are counted for
everybody. `link_merges` moves them into the documents of links, those of many folds at once. What can't be
read is left out by all of them, and kept with a mark.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import compress

from bson import Binary
from pymongo import IndexModel

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import DAY_MS, Columns, UnreadableBlock, pack, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import DAY_SECONDS, Facts, only_of, part_of
from backend.storage.collection import Collection, NoRetention, NotPersonal, Stage, StaysWhole
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.ownership import ByIdPrefix
from backend.storage.waiting_counts import documents_of

NAME = "link_deltas"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("part", 1), ("clicks", 1)]),
        IndexModel("part"),
        IndexModel("is_unreadable", partialFilterExpression={"is_unreadable": True}, name="unreadable"),
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("a click names neither an address nor a device nor a customer"),
    retention=NoRetention("they are gone once they are in the counts of their links"),
    archived=Stage.HISTORY,
    shard_key=StaysWhole("gone once they are in the counts of their links"),
)

READABLE: Document = {"is_unreadable": {"$ne": True}}
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delta:
    """Clicks of one day on links of one part. With `counted_before`, only their breakdown is to be added."""

    id: str
    org_id: OrgId
    day: int
    packed: bytes
    counted_before: bool

    @classmethod
    def of(cls, document: Document) -> Delta:
        """The delta in this document."""
        counted_before = bool(document.get("counted_before"))
        packed = bytes(document["packed"])
        return cls(document["_id"], document["org_id"], document["day"], packed, counted_before)

    def columns(self) -> Columns | None:
        """Its clicks; None if they can't be read."""
        try:
            return unpack(self.packed)
        except UnreadableBlock as error:
            _logger.error(
                "The clicks %s, which wait for their links' counts, can't be read: %s", self.id, error
            )
            return None


def new_deltas(org_id: OrgId, facts: Facts, *, counted_before: bool, after: str = "") -> list[Document]:
    """Documents with these clicks; links with an id up to `after` are left out."""
    return [
        {
            "_id": f"{org_id}/{part}/{uuid.uuid4().hex}",
            "org_id": org_id,
            "part": part,
            "day": columns.at[0] // DAY_MS,
            "clicks": len(columns.at),
            "packed": Binary(pack(columns)),
            **({"counted_before": True} if counted_before else {}),
        }
        for part, columns in facts.by_part(after)
    ]


def of_links(org_id: OrgId, link_ids: Iterable[LinkId]) -> Document:
    """The condition for deltas that may have clicks on these links of the organization."""
    return {"org_id": org_id, "part": {"$in": sorted({part_of(each) for each in link_ids})}}


@asynccontextmanager
async def with_deltas(
    database: Database, wanted: Document, session: ClientSession | None = None
) -> AsyncIterator[tuple[ClientSession | None, list[Delta]]]:
    """The deltas of this condition, and a session in which the counts of links lack just these.

    Where there are none, no session is needed: what is stored later only adds to the counts.
    """
    if session is not None:
        yield session, await read_deltas(database, wanted, session)
    elif await database[NAME].find_one(wanted | READABLE, {"_id": 1}) is None:
        yield None, []
    else:
        async with await database.client.start_session(snapshot=True) as own:
            yield own, await read_deltas(database, wanted, own)


async def read_deltas(database: Database, wanted: Document, session: ClientSession) -> list[Delta]:
    """The deltas of this condition, as `session` shows them."""
    return [Delta.of(found) async for found in database[NAME].find(wanted | READABLE, session=session)]


async def mark_unreadable(database: Database, delta_ids: Sequence[str]) -> None:
    """Note that these deltas can't be read: nobody tries again, and `waylink doctor` tells of them."""
    await database[NAME].update_many({"_id": {"$in": list(delta_ids)}}, {"$set": {"is_unreadable": True}})


async def count_unreadable_clicks(database: Database) -> int:
    """How many clicks are missing in the counts of their links, since their deltas can't be read."""
    return sum(
        [found["clicks"] async for found in database[NAME].find({"is_unreadable": True}, {"clicks": 1})]
    )


async def waiting_documents(
    deltas: Sequence[Delta], link_ids: Iterable[LinkId]
) -> dict[LinkId, list[Document]]:
    """What these deltas have of the links, as documents of `click_counts`: they are to be added to those.

    A link that they have nothing of is left out.
    """
    return await beside_the_loop(partial(_waiting_documents, deltas, set(link_ids))) if deltas else {}


def _waiting_documents(deltas: Iterable[Delta], link_ids: set[LinkId]) -> dict[LinkId, list[Document]]:
    documents: defaultdict[LinkId, list[Document]] = defaultdict(list)
    for delta in deltas:
        for each in documents_of_links(delta, link_ids):
            documents[each["link_id"]].append(each)
    return documents


def documents_of_links(delta: Delta, link_ids: set[LinkId] | None) -> list[Document]:
    """What the delta has of these links, or of all, as documents of `click_counts`."""
    columns = delta.columns()
    if columns is None:
        return []
    return _documents(delta, columns if link_ids is None else only_of(columns, link_ids))


def _documents(delta: Delta, columns: Columns) -> list[Document]:
    if not columns.at:
        return []
    facts = Facts()
    facts.add(columns)
    return [
        document
        for tallies in facts.by_link(lambda: facts.links)
        for link_id, tally in tallies.items()
        for document in documents_of(
            link_id,
            {"org_id": delta.org_id, "link_id": link_id},
            tally,
            breakdown_only=delta.counted_before,
        )
    ]


async def waiting_clicks_of(
    deltas: Sequence[Delta], is_wanted: Callable[[int, int], bool] = lambda _day, _hour: True
) -> Counter[LinkId]:
    """The clicks of each link in these deltas, of wanted days, counted from 1970, and hours.

    Those that were counted before are left out.
    """
    return await beside_the_loop(partial(_clicks_of, deltas, is_wanted)) if deltas else Counter()


def _clicks_of(deltas: Iterable[Delta], is_wanted: Callable[[int, int], bool]) -> Counter[LinkId]:
    clicks: Counter[LinkId] = Counter()
    for delta in deltas:
        columns = None if delta.counted_before else delta.columns()
        if columns is None:
            continue
        hours = {hour for hour in range(DAY_SECONDS // 3600) if is_wanted(delta.day, hour)}
        is_click = [what[1] is None for what in columns.whats]
        is_counted = [
            is_click[what] and at % DAY_MS // 3_600_000 in hours
            for what, at in zip(columns.what, columns.at, strict=True)
        ]
        for place, count in Counter(compress(columns.link, is_counted)).items():
            clicks[columns.links[place]] += count
    return clicks
