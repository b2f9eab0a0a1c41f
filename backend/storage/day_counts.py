"""Reads what rollups count by day, of many links, or of all that an organization has, and of many days."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics import day_of
from backend.domain.rollup import QUARTER_SECONDS, Dimension, value_of
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.rollups import bucket_of_day, id_of

# Documents of days that are read at a time.
_AT_ONCE = 2_000
_QUARTERS_OF_HOUR = 3600 // QUARTER_SECONDS
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What is counted of one link or organization on one day in UTC, as far as it was asked for.

    `quarters` counts clicks by quarter of an hour, from 0 to 95. With `by_hour`, some that were counted
    before there were quarters stand in the first one of their hour. `day` is counted from 1970.
    """

    subject: str
    day: int
    quarters: Mapping[int, int]
    by_hour: bool
    values: Mapping[Dimension, Mapping[str | None, int]]
    visitors: bytes | None


class DayPart(StrEnum):
    """Which counts of a day are read: by quarter of an hour, of visitors, or by a Dimension."""

    QUARTERS = "quarters"
    VISITORS = "visitors"


async def read_day_counts(
    database: Database,
    collection: str,
    org_id: str,
    days: range,
    parts: Iterable[DayPart | Dimension],
    *,
    subjects: Iterable[str] | None = None,
    session: ClientSession | None = None,
) -> AsyncGenerator[list[DayCounts], None]:
    """Read these parts of the organization's counts on these days, some documents at a time, day after day.

    `collection` is one of rollups. Without `subjects`, those of all that have any are read: for that it needs
    an index of organization and day.
    """
    fields = _stored_fields(parts)
    known = None if subjects is None else list(subjects)
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
            counts = await beside_the_loop(partial(_day_counts, found))
            yield counts


def _stored_fields(parts: Iterable[DayPart | Dimension]) -> dict[str, int]:
    fields = {str(each): 1 for each in parts}
    if DayPart.QUARTERS in fields:
        fields["parts"] = 1
    return fields or {"_id": 1}


def _some_days(days: range, subjects: int) -> Iterable[range]:
    """The days, so many at a time that they have about _AT_ONCE documents."""
    step = max(1, _AT_ONCE // max(1, subjects))
    return (days[at : at + step] for at in range(0, len(days), step))


def _day_counts(documents: Iterable[Document]) -> list[DayCounts]:
    """What these documents of days hold, in the order of days."""
    return sorted(map(_day_count, documents), key=lambda each: each.day)


def _day_count(document: Document) -> DayCounts:
    subject, _, day = document["_id"].partition("/day/")
    quarters = {int(each): count for each, count in document.get("quarters", {}).items()}
    by_hour = False
    parts = document.get("parts")
    if parts and sum(parts.values()) > sum(quarters.values()):
        by_hour = True
        for hour, count in parts.items():
            first = int(hour) * _QUARTERS_OF_HOUR
            known = sum(quarters.get(first + each, 0) for each in range(_QUARTERS_OF_HOUR))
            quarters[first] = quarters.get(first, 0) + max(0, count - known)
    return DayCounts(
        subject=subject,
        day=(date.fromisoformat(day) - _EPOCH).days,
        quarters=quarters,
        by_hour=by_hour,
        values={
            each: {value_of(name): count for name, count in document[each].items()}
            for each in Dimension
            if each in document
        },
        visitors=document.get("visitors"),
    )
