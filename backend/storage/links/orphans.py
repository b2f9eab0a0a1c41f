"""The `orphan_visits` collection: what was asked for and no link has, by domain, day and path.

A document for each path and day, and one without a path that says how many visits are not kept, and which
batches were stored last. Visits are counted in memory first, so those of the last seconds are lost where a
process dies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from pymongo import IndexModel, UpdateOne

from backend.domain.domains.orphans import (
    MOST_PATHS_A_DAY,
    MOST_REFERRERS,
    OTHER_REFERRERS,
    DayKey,
    NotKept,
    Orphan,
    OrphanBatch,
    PathTally,
)
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.links.links import taken_paths
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import AgesFrom, Collection, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors.dated_writes import Days, Written, write_dated

NAME = "orphan_visits"
KEPT = timedelta(days=90)
RETENTION = AgesFrom("day")
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("domain", 1), ("day", 1)]),
        # Besides the organization's retention time: hints get old.
        IndexModel("forget_at", expireAfterSeconds=0),
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("no field names a visitor, and no path with an @ is kept; all go after 90 days"),
    retention=RETENTION,
    archived=NotArchived("hints for today, gone after 90 days"),
    shard_key=NotSharded("at most 500 small documents a domain and day, gone after 90 days"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
# Of a domain and day, by their ids: each process tries its last one again, and no older one.
_BATCHES_KNOWN = 100


@dataclass(frozen=True, slots=True)
class OrphanList:
    """The orphans of a domain, those with most visits first, and how many visits are not kept, by reason."""

    orphans: list[Orphan]
    not_kept: Mapping[NotKept, int]


async def add_orphan_visits(database: Database, key: DayKey, batch: OrphanBatch) -> None:
    """Add these visits to those of the domain and day, unless this batch is stored already.

    All of them are stored or none. Of new paths, a day takes those that were asked for most.
    """

    async def work(session: ClientSession, reading: Awaitable[Days]) -> list[Written]:
        return [await _add_day(database, session, key, batch, (await reading).get(key[0]))]

    await write_dated(database, [key[0]], work)


async def _add_day(
    database: Database, session: ClientSession, key: DayKey, batch: OrphanBatch, retention: int | None
) -> Written:
    day = batch.day
    org_id, domain, _ = key
    start = f"{org_id}/{domain}/{key[2]}/"
    first = _start_of(key[2])
    condition: Document = {"domain": domain, "day": first}
    if await database[NAME].find_one({"_id": start, "org_id": org_id, "batches": batch.id}, session=session):
        return Written(COLLECTION, org_id, condition)
    ids = [start + path for path in day.paths]
    cursor = database[NAME].find({"_id": {"$in": ids}, "org_id": org_id}, {"referrers": 1}, session=session)
    known = {document["_id"]: set(document["referrers"]) async for document in cursor}
    stored = await database[NAME].count_documents(
        {"org_id": org_id, **condition, "path": {"$gt": ""}}, limit=MOST_PATHS_A_DAY, session=session
    )
    room = MOST_PATHS_A_DAY - stored
    fixed = {
        "org_id": org_id,
        **condition,
        "forget_at": first + KEPT,
        "expires_at": RETENTION.expires_at(first, retention),
    }
    updates, not_kept = [], Counter(day.not_kept)
    for path, tally in sorted(day.paths.items(), key=lambda item: -item[1].visits):
        referrers = known.get(start + path)
        if referrers is None:
            room -= 1
        if referrers is None and room < 0:
            not_kept[NotKept.TOO_MANY] += tally.visits
        else:
            updates.append(_update(start, path, tally, referrers or set(), fixed))
    counts = {f"not_kept.{reason.value}": visits for reason, visits in not_kept.items()}
    noted: Document = {
        "$set": fixed,
        "$push": {"batches": {"$each": [batch.id], "$slice": -_BATCHES_KNOWN}},
        **({"$inc": counts} if counts else {}),
    }
    # First, since it conflicts with whoever stores another batch of the day, or this one once more.
    updates.insert(0, UpdateOne({"_id": start}, noted, upsert=True))
    await database[NAME].bulk_write(updates, ordered=True, session=session)
    return Written(COLLECTION, org_id, condition)


def _update(start: str, path: str, tally: PathTally, known: set[str], fixed: Document) -> UpdateOne:
    increments: Counter[str] = Counter()
    for referrer, visits in tally.referrers.items():
        name = _as_name(referrer)
        if name not in known and len(known) >= MOST_REFERRERS:
            name = _as_name(OTHER_REFERRERS)
        known.add(name)
        increments[f"referrers.{name}"] += visits
    return UpdateOne(
        {"_id": start + path},
        {
            "$inc": {"visits": tally.visits, **increments},
            "$max": {"last_at": tally.last_at},
            "$set": {"path": path, **fixed},
        },
        upsert=True,
    )


async def find_orphans(
    database: Database,
    org_id: OrgId,
    domain: str,
    start: date,
    end: date,
    *,
    settled_before: date = date.min,
) -> OrphanList:
    """The orphans of the organization's domain on the days from `start` up to before `end`.

    Paths that a link has by now are left out. Settled are visits of days before `settled_before`.
    """
    query = {
        "org_id": org_id,
        "domain": domain,
        "day": {"$gte": _start_of(start), "$lt": _start_of(end)},
    }
    unsettled = _start_of(settled_before)
    tallies: dict[str, PathTally] = {}
    settled: Counter[str] = Counter()
    not_kept: Counter[NotKept] = Counter()
    async for document in database[NAME].find(query):
        not_kept.update({NotKept(reason): visits for reason, visits in document.get("not_kept", {}).items()})
        if "path" in document:
            _add(tallies, document)
            settled[document["path"]] += document["visits"] if document["day"] < unsettled else 0
    taken = await _taken(database, domain, tallies)
    orphans = [
        Orphan(
            path,
            tally.visits,
            settled[path],
            tally.last_at,
            dict(tally.referrers.most_common(MOST_REFERRERS)),
        )
        for path, tally in tallies.items()
        if path not in taken
    ]
    orphans.sort(key=lambda orphan: (-orphan.visits, orphan.path))
    return OrphanList(orphans, not_kept)


async def forget_orphans(database: Database, org_id: OrgId, domain: str) -> int:
    """Delete what is kept of a domain's orphan visits. Returns how many documents that were."""
    return (await database[NAME].delete_many({"org_id": org_id, "domain": domain})).deleted_count


def _add(tallies: dict[str, PathTally], document: dict[str, Any]) -> None:
    tally = tallies.setdefault(document["path"], PathTally(0, document["last_at"]))
    tally.visits += document["visits"]
    tally.last_at = max(tally.last_at, document["last_at"])
    tally.referrers.update({_as_host(name): visits for name, visits in document["referrers"].items()})


async def _taken(database: Database, domain: str, paths: Iterable[str]) -> set[str]:
    every, taken = list(paths), set[str]()
    for first in range(0, len(every), 5_000):
        taken |= await taken_paths(database, domain, every[first : first + 5_000])
    return taken


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _as_name(host: str) -> str:
    """The host as a field's name, in which dots would have a meaning; no host has a comma."""
    return host.replace(".", ",") or "-"


def _as_host(name: str) -> str:
    return "" if name == "-" else name.replace(",", ".")
