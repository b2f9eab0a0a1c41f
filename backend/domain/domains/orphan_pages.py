"""Pages of orphans in the order of their visits, which go on being counted while somebody turns pages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from backend.domain.domains.orphans import Orphan
from backend.domain.web.base64url import base64url

# Visits are stored within seconds, those of a database that was away a little later.
_STORED_WITHIN = timedelta(minutes=10)
MARK_CHARACTERS = 5
_Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class OrphanPlace:
    """How far somebody has read a list that began at `begun_at`.

    All orphans up to the one with these `visits` and this `path` were shown, but those that have got before
    it since. The `marks` tell them apart from those that were shown and could have got there.
    """

    begun_at: datetime
    visits: int
    path: str
    marks: frozenset[str]

    @property
    def _key(self) -> _Place:
        return (-self.visits, self.path)

    def has_shown(self, orphan: Orphan) -> bool:
        """Whether this orphan, with what is counted by now, was on a page before."""
        if _now(orphan) > self._key:
            return False
        return _at_least(orphan) <= self._key or _mark(orphan) in self.marks


def counts_from(begun_at: datetime) -> date:
    """The first day, in UTC, of which visits may still be counted while a list is read that began then."""
    return (begun_at - _STORED_WITHIN).date()


def page_behind(
    orphans: Sequence[Orphan], place: OrphanPlace | None, *, begun_at: datetime, size: int
) -> tuple[list[Orphan], OrphanPlace | None]:
    """The next orphans of a list that began at `begun_at`, and the place behind them if there are more.

    `orphans` are all of the list, in its order, whose `settled` are visits before `counts_from(begun_at)`.
    No orphan comes twice, and none is left out, however its visits grow from one page to the next.
    """
    left = [orphan for orphan in orphans if place is None or not place.has_shown(orphan)]
    page = left[:size]
    if len(left) == len(page):
        return page, None
    waiting = {orphan.path for orphan in left[size:]}
    end = max(_now(page[-1]), place._key) if place else _now(page[-1])
    marks = frozenset(
        _mark(orphan)
        for orphan in orphans
        if _now(orphan) <= end < _at_least(orphan) and orphan.path not in waiting
    )
    return page, OrphanPlace(begun_at, -end[0], end[1], marks)


def _now(orphan: Orphan) -> _Place:
    return (-orphan.visits, orphan.path)


def _at_least(orphan: Orphan) -> _Place:
    """The place of an orphan without what may have been counted since the list began."""
    return (-orphan.settled, orphan.path)


def _mark(orphan: Orphan) -> str:
    digest = hashlib.sha256(orphan.path.encode("utf-8", "surrogateescape")).digest()
    return base64url(digest)[:MARK_CHARACTERS]
