"""Adds counts of clicks to what is stored, and reads them: by total, day, hour and minute.

`click_counts` has them for each link, `organization_counts` for each organization. Both hold the buckets of
domain/analytics. The document of a day also has, for that day in UTC:

- `day`: which one it is, such as 2026-01-31;
- `quarters`: clicks by quarter of an hour, from 0 to 95;
- `platform`, `system`, `browser`, `country`, `referrer`: clicks by what they were;
- `outcome`: all requests by what was decided; `reason`: those that don't count, by reason;
- `visitors`: a sketch of those who clicked (storage/visitor_sketches);
- `seconds`: the second of the day of each of its first clicks. Only what comes beyond them has documents of
  its hour and minute, so that a link with few clicks does not have a document for each.

A day on which nothing counted has empty `parts`, without which version 0.1 can't read it. What was written
before that was so may have none.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeVar

from bson import Binary
from pymongo import UpdateOne

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics import (
    FINE_BUCKETS_KEPT,
    TOTAL,
    WindowCounts,
    bucket_parts,
    buckets_of_windows,
    days_of_chart,
    is_fine,
    starts_of_windows,
    window_counts,
)
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import (
    BOUNDED,
    DAY_SECONDS,
    MOST_VALUES,
    QUARTER_SECONDS,
    DayTally,
    Dimension,
    Tally,
    bounded,
    value_of,
)
from backend.storage.collection import EXPIRY_INDEX
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.visitor_sketches import add_visitors

INDEXES = [EXPIRY_INDEX]
# Documents of numbers under the same few names: it takes a third less for them than MongoDB's usual snappy.
COMPRESSOR = "zstd"
# Clicks of a day whose second is in the document of the day.
MOST_SECONDS = 500
# What clicks are counted of.
SubjectId = LinkId | OrgId
SubjectT = TypeVar("SubjectT", LinkId, OrgId)
HOUR_SECONDS = 3600
_FINE = ("hour", "minute")
# Links or organizations whose totals are added up, or whose days are removed, by one command.
_TOTALS_AT_ONCE = 10_000
_REMOVED_AT_ONCE = 200
# How the second of a click is stored.
SECOND = array("I")
_BOUNDED = frozenset(each.value for each in BOUNDED)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Documents that are to be added to those that are stored, as `session` shows these."""

    documents: Sequence[Document] = ()
    session: ClientSession | None = None


NOTHING_WAITS = Waiting()


@dataclass(frozen=True, slots=True)
class Rollups:
    """The rollups in one collection. Ids begin with the id of what is counted, and a slash.

    Without `counts_seconds` there are no documents of minutes, so that windows are exact to the minute only.
    """

    collection: str
    counts_seconds: bool = True

    async def add(
        self,
        database: Database,
        session: ClientSession,
        tallies: Mapping[SubjectT, Tally],
        owner: Mapping[SubjectT, Document],
        *,
        breakdown_only: bool = False,
    ) -> None:
        """Add these counts in the caller's transaction, by the id of what is counted.

        Nobody else may add to the same documents at the same time. `owner` has the fields that say whose the
        documents are. With `breakdown_only`, the clicks are in the total and in days, hours and minutes
        already.
        """
        days = {
            id_of(each, bucket_of_day(day)): tally
            for each, tallies_of_days in tallies.items()
            for day, tally in tallies_of_days.items()
        }
        stored = await self._stored_days(database, session, days)
        # Beside the loop: what sketches are made with takes a quarter of a second to load.
        sketches = await beside_the_loop(lambda: _sketches(days, stored))
        changes = _Changes(counts_seconds=self.counts_seconds)
        for each, tallies_of_days in tallies.items():
            of_each = []
            for day, tally in tallies_of_days.items():
                day_id = id_of(each, bucket_of_day(day))
                of_each.append(_Day(day_id, day, tally, stored.get(day_id), sketches.get(day_id)))
            changes.add(each, owner[each], of_each, breakdown_only=breakdown_only)
        if changes.new:
            await database[self.collection].insert_many(changes.new, session=session)
        if changes.updates:
            await database[self.collection].bulk_write(changes.updates, session=session, ordered=True)

    async def sum_totals(
        self, database: Database, subjects: Sequence[SubjectId], session: ClientSession | None = None
    ) -> int:
        """What the totals of these come to."""
        sum_of = 0
        for start in range(0, len(subjects), _TOTALS_AT_ONCE):
            ids = [id_of(each, TOTAL) for each in subjects[start : start + _TOTALS_AT_ONCE]]
            added: Document = {"$group": {"_id": None, "clicks": {"$sum": "$parts.all"}}}
            found = database[self.collection].aggregate(
                [{"$match": {"_id": {"$in": ids}}}, added], session=session
            )
            sum_of += sum([each["clicks"] async for each in found])
        return sum_of

    async def remove_day(
        self, database: Database, session: ClientSession, subjects: Sequence[SubjectId], at: datetime
    ) -> None:
        """Take the day in UTC of this time out of the counts of these, in the caller's transaction.

        Nobody else may add to the same documents at the same time.
        """
        number = _day_of(at)
        day = day_name(number)
        for start in range(0, len(subjects), _REMOVED_AT_ONCE):
            some = subjects[start : start + _REMOVED_AT_ONCE]
            ids = {id_of(each, bucket_of_day(number)): id_of(each, TOTAL) for each in some}
            cursor = database[self.collection].find(
                {"_id": {"$in": list(ids)}}, {"parts": 1}, session=session
            )
            less = [
                UpdateOne({"_id": ids[each["_id"]]}, {"$inc": {"parts.all": -sum(each["parts"].values())}})
                async for each in cursor
                if "parts" in each
            ]
            if less:
                await database[self.collection].bulk_write(less, session=session)
            fine = [re.compile(f"^{re.escape(each)}/{kind}/{day}T") for each in some for kind in _FINE]
            await database[self.collection].delete_many({"_id": {"$in": [*ids, *fine]}}, session=session)
            empty = {"_id": {"$in": list(ids.values())}, "parts.all": {"$lte": 0}}
            await database[self.collection].delete_many(empty, session=session)

    async def _stored_days(
        self, database: Database, session: ClientSession, days: Iterable[str]
    ) -> dict[str, Document]:
        fields = dict.fromkeys(("day", "seconds", "visitors", *BOUNDED), 1)
        cursor = database[self.collection].find({"_id": {"$in": list(days)}}, fields, session=session)
        return {found["_id"]: found async for found in cursor}

    async def read_windows(
        self, database: Database, subject: SubjectId, now: datetime, waiting: Waiting = NOTHING_WAITS
    ) -> WindowCounts:
        """The counts at `now`. Costs one query by id for a fixed number of documents."""
        buckets: defaultdict[str, Counter[str]] = defaultdict(Counter)
        seconds: defaultdict[str, bytes] = defaultdict(bytes)
        wanted = buckets_of_windows(now)
        for bucket, found in await self._read(
            database, subject, buckets=wanted, fields=("parts", "seconds"), waiting=waiting
        ):
            buckets[bucket].update(found.get("parts", {}))
            seconds[bucket] += found.get("seconds", b"")
        for start in starts_of_windows(now):
            for bucket, part in _hour_and_minute(start, seconds.get(bucket_of_day(_day_of(start)), b"")):
                buckets[bucket][part] += 1
        return window_counts(buckets, now)

    async def read_breakdown(
        self,
        database: Database,
        subject: SubjectId,
        org_id: OrgId,
        now: datetime,
        days: int,
        *,
        waiting: Waiting = NOTHING_WAITS,
    ) -> dict[Dimension, Counter[str | None]]:
        """The counts of the last `days` days in UTC, today included, by what clicks were."""
        total: dict[Dimension, Counter[str | None]] = {each: Counter() for each in Dimension}
        wanted = days_of_chart(now, days)
        for _, found in await self._read(
            database, subject, buckets=wanted, fields=("org_id", *Dimension), waiting=waiting
        ):
            if found["org_id"] == org_id:
                for each in Dimension:
                    for name, count in found.get(each, {}).items():
                        total[each][value_of(name)] += count
        return total

    async def read_totals(
        self, database: Database, subjects: Iterable[SubjectT], session: ClientSession | None = None
    ) -> dict[SubjectT, int]:
        """The total of each of these; what has none is left out."""
        names = {id_of(each, TOTAL): each for each in subjects}
        cursor = database[self.collection].find({"_id": {"$in": list(names)}}, {"parts": 1}, session=session)
        return {names[found["_id"]]: sum(found["parts"].values()) async for found in cursor}

    async def _read(
        self,
        database: Database,
        subject: SubjectId,
        *,
        buckets: Iterable[str],
        fields: Iterable[str],
        waiting: Waiting,
    ) -> list[tuple[str, Document]]:
        """The documents of these buckets, each with its bucket, and those that wait to be added to them."""
        names = {id_of(subject, bucket): bucket for bucket in buckets}
        wanted = {"_id": {"$in": list(names)}}
        cursor = database[self.collection].find(wanted, dict.fromkeys(fields, 1), session=waiting.session)
        documents = [*await cursor.to_list(None), *waiting.documents]
        return [(names[each["_id"]], each) for each in documents if each["_id"] in names]


@dataclass(frozen=True, slots=True)
class _Day:
    """What is to be added to the document of a day. `stored` is what it has now; None: there is none."""

    id: str
    number: int
    tally: DayTally
    stored: Document | None
    sketch: bytes | None


class _Changes:
    """What is to be written: documents of days that are not there yet, and changes of those that may be."""

    def __init__(self, *, counts_seconds: bool) -> None:
        self._counts_seconds = counts_seconds
        self.new: list[Document] = []
        self.updates: list[UpdateOne] = []

    def add(
        self, subject: SubjectId, owner: Document, tallies: Iterable[_Day], *, breakdown_only: bool
    ) -> None:
        """Add the counts of one link or organization to its documents."""
        clicks = 0
        for each in tallies:
            self._add_day(subject, owner, each, breakdown_only=breakdown_only)
            clicks += len(each.tally.seconds)
        if clicks and not breakdown_only:
            self._increase(id_of(subject, TOTAL), {"parts.all": clicks}, owner)

    def _add_day(self, subject: SubjectId, owner: Document, day: _Day, *, breakdown_only: bool) -> None:
        tally, stored = day.tally, day.stored or {}
        counts = dict(tally.values)
        # An earlier version, which may run beside this one, makes days that do not say which one they are.
        fields: Document = {} if "day" in stored else {"day": day_name(day.number)}
        if day.sketch and day.sketch != stored.get("visitors"):
            fields["visitors"] = Binary(day.sketch)
        for dimension in _BOUNDED.intersection(counts):
            known = stored.get(dimension, {})
            if len(known) + len(counts[dimension]) > MOST_VALUES:
                fields[dimension] = bounded(known, counts.pop(dimension))
        if tally.seconds:
            counts["quarters"] = by_width(tally.seconds, QUARTER_SECONDS)
            if not breakdown_only:
                counts["parts"] = by_width(tally.seconds, HOUR_SECONDS)
                fields |= self._add_seconds(subject, owner, day)
        if day.stored is None:
            self.new.append({"_id": day.id, **owner, "parts": {}, **counts, **fields})
        else:
            update: Document = {"$set": fields} if fields else {}
            added = {f"{field}.{name}": n for field, names in counts.items() for name, n in names.items()}
            self.updates.append(UpdateOne({"_id": day.id}, update | {"$inc": added} if added else update))

    def _add_seconds(self, subject: SubjectId, owner: Document, day: _Day) -> Document:
        """Note in which second each click was, so that windows that begin on this day are exact.

        Returns the fields of the day's document that say so.
        """
        seconds = day.tally.seconds
        stored = bytes(day.stored.get("seconds", b"")) if day.stored else b""
        if len(stored) // SECOND.itemsize + len(seconds) <= MOST_SECONDS:
            return {"seconds": Binary(stored + array(SECOND.typecode, seconds).tobytes())}
        fine: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for minute, count in Counter([second // 60 for second in seconds]).items():
            fine[_hour_bucket(day.number, minute // 60)][f"parts.{minute % 60}"] += count
        if self._counts_seconds:
            for second, count in Counter(seconds).items():
                fine[_minute_bucket(day.number, second // 60)][f"parts.{second % 60}"] += count
        on_insert = owner | {"expires_at": _EPOCH + timedelta(days=day.number) + FINE_BUCKETS_KEPT}
        for bucket, added in fine.items():
            self._increase(id_of(subject, bucket), added, on_insert)
        return {}

    def _increase(self, document_id: str, added: Mapping[str, int], on_insert: Document) -> None:
        update = {"$setOnInsert": on_insert, "$inc": added}
        self.updates.append(UpdateOne({"_id": document_id}, update, upsert=True))


def by_width(seconds: Sequence[int], width: int) -> dict[str, int]:
    """How many of the seconds are in each part of the day of this many seconds, by the part's number."""
    if len(seconds) == 1:  # of most links in a fold of many; a Counter takes a microsecond to make
        return {str(seconds[0] // width): 1}
    return {str(part): count for part, count in Counter([each // width for each in seconds]).items()}


def _sketches(days: Mapping[str, DayTally], stored: Mapping[str, Document]) -> dict[str, bytes]:
    """The sketches of the days that have new visitors, with those of before."""
    return {
        day_id: add_visitors(stored.get(day_id, {}).get("visitors"), tally.visitors)
        for day_id, tally in days.items()
        if tally.visitors
    }


def seconds_in(stored: bytes) -> array[int]:
    """The seconds of the day in the field `seconds`."""
    seconds = array(SECOND.typecode)
    seconds.frombytes(stored)
    return seconds


def _hour_and_minute(start: datetime, seconds: bytes) -> Iterable[tuple[str, str]]:
    """For each second in the hour and minute in which a window starts: their buckets, and the parts."""
    start = start.astimezone(UTC)
    hour = start.hour
    names = bucket_parts(start)
    hour_bucket, minute_bucket = (each for each in names if is_fine(each))
    for second in seconds_in(seconds):
        if second // 3600 == hour:
            minute = second % 3600 // 60
            yield hour_bucket, str(minute)
            if minute == start.minute:
                yield minute_bucket, str(second % 60)


def _day_of(at: datetime) -> int:
    return int(at.timestamp()) // DAY_SECONDS


@lru_cache(maxsize=1_000)
def bucket_of_day(day: int) -> str:
    """The bucket of the day with this number, counted from 1970."""
    return f"day/{day_name(day)}"


@lru_cache(maxsize=1_000)
def _hour_bucket(day: int, hour: int) -> str:
    return f"hour/{day_name(day)}T{hour:02}"


@lru_cache(maxsize=10_000)
def _minute_bucket(day: int, minute: int) -> str:
    return f"minute/{day_name(day)}T{minute // 60:02}:{minute % 60:02}"


@lru_cache(maxsize=1_000)
def day_name(day: int) -> str:
    return f"{_EPOCH + timedelta(days=day):%Y-%m-%d}"


def id_of(subject: SubjectId, bucket: str) -> str:
    """The id of the document that has this bucket of a link or organization."""
    return f"{subject}/{bucket}"
