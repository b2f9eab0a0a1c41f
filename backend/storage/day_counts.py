"""Reads what rollups count by day, of many links, or of all that an organization has, and of many days."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache, partial
from itertools import groupby
from operator import attrgetter

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics import day_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import QUARTER_SECONDS, Dimension, value_of
from backend.storage.link_deltas import Delta, documents_of_links
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.rollups import SubjectId, bucket_of_day, id_of

# Documents of days that are read at a time.
_AT_ONCE = 2_000
_QUARTERS_OF_HOUR = 3600 // QUARTER_SECONDS
_EPOCH = date(1970, 1, 1)


@dataclass(slots=True)
class DayCounts:
    """What is counted of one link or organization on one day in UTC, as far as it was asked for.

    `day` is counted from 1970.
    """

    subject: SubjectId
    day: int
    values: Mapping[Dimension, Mapping[str | None, int]]
    visitors: bytes | None
    _quarters: Mapping[str, int]
    _hours: Mapping[str, int]

    @property
    def clicks(self) -> int:
        """All clicks of the day."""
        return max(sum(self._quarters.values()), sum(self._hours.values()))

    @property
    def by_hour(self) -> bool:
        """Whether some clicks were counted before there were quarters, so that only their hour is known."""
        return sum(self._hours.values()) > sum(self._quarters.values())

    def clicks_between(self, first: int, end: int) -> int:
        """The clicks from quarter `first` of an hour up to, but not including, `end`, both from 0 to 96.

        Where only the hour of some is known, they count in its first quarter.
        """
        clicks = sum(count for at, count in self._quarters.items() if first <= int(at) < end)
        if self.by_hour:
            known: Counter[int] = Counter()
            for at, count in self._quarters.items():
                known[int(at) // _QUARTERS_OF_HOUR] += count
            for hour, count in self._hours.items():
                if first <= int(hour) * _QUARTERS_OF_HOUR < end:
                    clicks += max(0, count - known[int(hour)])
        return clicks


class DayPart(StrEnum):
    """Which counts of a day are read: by quarter of an hour, of visitors, or by a Dimension."""

    QUARTERS = "quarters"
    VISITORS = "visitors"


async def read_day_counts(
    database: Database,
    collection: str,
    org_id: OrgId,
    days: range,
    parts: Iterable[DayPart | Dimension],
    *,
    subjects: Iterable[SubjectId] | None = None,
    deltas: Iterable[Delta] = (),
    session: ClientSession | None = None,
) -> AsyncGenerator[list[DayCounts], None]:
    """Read these parts of the organization's counts on these days, some documents at a time, day after day.

    `collection` is one of rollups; `deltas` are what is to be added to it, and may give the same link another
    DayCounts of the same day. Without `subjects`, those of all that have any are read: for that it needs an
    index of organization and day.
    """
    asked = list(parts)
    dimensions = [each for each in asked if isinstance(each, Dimension)]
    known = None if subjects is None else list(subjects)
    waiting = _WaitingDays(deltas, days, known, dimensions)
    stored = _read_stored(
        database, collection, org_id, days, fields=_stored_fields(asked), known=known, session=session
    )
    async for documents in stored:
        counts = await beside_the_loop(partial(_day_counts, documents, dimensions))
        if waiting.is_empty:
            yield counts
            continue
        for day, of_day in groupby(counts, key=attrgetter("day")):
            async for more in waiting.before(day):
                yield more
            yield list(of_day)
    async for more in waiting.before(days.stop):
        yield more


class _WaitingDays:
    """What deltas have of these days and subjects, or of all."""

    def __init__(
        self,
        deltas: Iterable[Delta],
        days: range,
        subjects: Iterable[SubjectId] | None,
        dimensions: Sequence[Dimension],
    ) -> None:
        of_days = sorted((each for each in deltas if each.day in days), key=attrgetter("day"))
        self._deltas = deque(of_days)
        self._links = None if subjects is None else {LinkId(each) for each in subjects}
        self._dimensions = dimensions

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to be read."""
        return not self._deltas

    async def before(self, day: int) -> AsyncGenerator[list[DayCounts], None]:
        """What they have of earlier days, as far as it was not read yet."""
        while self._deltas and self._deltas[0].day < day:
            yield await beside_the_loop(partial(self._counts, self._deltas.popleft()))

    def _counts(self, delta: Delta) -> list[DayCounts]:
        documents = [each for each in documents_of_links(delta, self._links) if "day" in each]
        if delta.counted_before:
            # The documents of their links have these clicks by hour: by quarter they would count once more.
            documents = [each | {"quarters": {}} for each in documents]
        return _day_counts(documents, self._dimensions)


async def _read_stored(
    database: Database,
    collection: str,
    org_id: OrgId,
    days: range,
    *,
    fields: Mapping[str, int],
    known: Sequence[SubjectId] | None,
    session: ClientSession | None,
) -> AsyncGenerator[list[Document], None]:
    """The documents of these days, some at a time, day after day."""
    for some in _some_days(days, 1 if known is None else len(known)):
        names = [bucket_of_day(day) for day in some]
        if known is None:
            bounds = {"$gte": day_of(names[0]), "$lte": day_of(names[-1])}
            wanted: Document = {"org_id": org_id, "day": bounds}
        else:
            ids = [id_of(each, name) for name in names for each in known]
            wanted = {"_id": {"$in": ids}, "org_id": org_id}
        order = [("day", 1)] if known is None else None
        cursor = database[collection].find(wanted, fields, sort=order, batch_size=_AT_ONCE, session=session)
        while found := await cursor.to_list(_AT_ONCE if known is None else None):
            yield found


async def sum_clicks(
    database: Database,
    collection: str,
    org_id: OrgId,
    days: range,
    *,
    subject: SubjectId | None = None,
    is_outside: bool = False,
    session: ClientSession | None = None,
) -> dict[SubjectId, int]:
    """The clicks of each of the organization's links on these days as a whole, of those that have any.

    With `subject`, those of this one alone; with `is_outside`, those of links on all other days. MongoDB
    adds them up, which takes a small part of the time that reading each day does.
    """
    names = [bucket_of_day(each) for each in days]
    wanted: Document = {"org_id": org_id}
    if is_outside:
        before, behind = {"$lt": day_of(names[0])}, {"$gt": day_of(names[-1])}
        wanted = {"$or": [wanted | {"day": each} for each in (before, behind)]}
    elif subject is None:
        wanted["day"] = {"$gte": day_of(names[0]), "$lte": day_of(names[-1])}
    else:
        wanted["_id"] = {"$in": [id_of(subject, each) for each in names]}
    hours: Document = {"$objectToArray": {"$ifNull": ["$parts", {}]}}
    pipeline: list[Document] = [
        {"$match": wanted},
        {
            "$group": {
                "_id": "$link_id" if subject is None else {"$literal": subject},
                "clicks": {"$sum": {"$sum": {"$map": {"input": hours, "in": "$$this.v"}}}},
            }
        },
    ]
    found = database[collection].aggregate(pipeline, session=session, allowDiskUse=True)
    sums: dict[SubjectId, int] = {}
    while some := await found.to_list(_AT_ONCE):
        sums |= {each["_id"]: each["clicks"] for each in some if each["clicks"]}
    return sums


def _stored_fields(parts: Iterable[DayPart | Dimension]) -> dict[str, int]:
    fields = {str(each): 1 for each in parts}
    if DayPart.QUARTERS in fields:
        fields["parts"] = 1
    return fields or {"_id": 1}


def _some_days(days: range, subjects: int) -> Iterable[range]:
    """The days, so many at a time that they have about _AT_ONCE documents."""
    step = max(1, _AT_ONCE // max(1, subjects))
    return (days[at : at + step] for at in range(0, len(days), step))


def _day_counts(documents: Iterable[Document], dimensions: Sequence[Dimension]) -> list[DayCounts]:
    """What these documents of days hold, in the order of days."""
    counts = [_day_count(each, dimensions) for each in documents]
    return sorted(counts, key=attrgetter("day"))


def _day_count(document: Document, dimensions: Sequence[Dimension]) -> DayCounts:
    subject, _, day = document["_id"].partition("/day/")
    values = {
        each: {value_of(name): count for name, count in document.get(each, {}).items()} for each in dimensions
    }
    quarters, hours = document.get("quarters", {}), document.get("parts", {})
    return DayCounts(subject, _number_of(day), values, document.get("visitors"), quarters, hours)


@lru_cache(maxsize=10_000)
def _number_of(day: str) -> int:
    return (date.fromisoformat(day) - _EPOCH).days
