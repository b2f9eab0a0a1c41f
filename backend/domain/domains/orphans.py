"""Orphan visits: what people ask a link domain for and no link has, counted by path, day and referrer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from urllib.parse import quote, unquote_to_bytes

from backend.domain.ids import OrgId

# The most paths of a domain that are kept for a day; further ones are only counted.
MOST_PATHS_A_DAY = 500
MOST_REFERRERS = 20  # of a path and day
LONGEST_PATH = 128
# What one process has in memory until it is stored.
MOST_WAITING_PATHS = 5_000
MOST_WAITING_DAYS = 1_000
DIRECT, OTHER_REFERRERS = "", "other"
# Without @, also encoded once more, so that no e-mail address is kept.
_KEPT = re.compile(rf"(?:(?!%(?:25)*40)[^@]){{1,{LONGEST_PATH}}}")
# What scanners for weak servers ask every host for.
_PROBE = re.compile(
    r"(?i)(?:^|/)(?:\.(?!well-known)|wp-|wordpress|cgi-bin|phpmyadmin|xmlrpc|vendor/|actuator|hnap1|boaform|"
    r"solr/|owa/|autodiscover|_ignition|server-status|console/|manager/html|druid/|geoserver|remote/|sdk/|"
    r"config\.|telescope|debug/|api/v\d)"
    r"|\.(?:php\d?|phtml|aspx?|jspx?|cgi|pl|env|git|sql|bak|old|zip|rar|gz|tgz|ini|ya?ml|log|conf|sh|dll|exe|do|"
    r"action|xml|json|pem|key)(?:$|/)"
)
# What browsers and programs ask every host for by themselves, so that nobody has mistyped it.
_BY_ITSELF = re.compile(
    r"(?i)(?:apple-touch-icon[\w-]*\.png|favicon[\w-]*\.\w+|browserconfig\.xml|sitemap[\w-]*\.(?:xml|txt)|"
    r"(?:app-)?ads\.txt|security\.txt|llms\.txt|humans\.txt|site\.webmanifest|manifest\.json|\.well-known/.*)"
)


class NotKept(StrEnum):
    """Why the path of an orphan visit is not kept."""

    PROBE = "probes"
    UNREADABLE = "unreadable"
    TOO_MANY = "too_many"


def is_asked_by_itself(path: str) -> bool:
    """Whether browsers and programs ask for this path without anybody's doing."""
    return _BY_ITSELF.fullmatch(path) is not None


def is_probe(path: str) -> bool:
    """Whether this is what scanners for weak servers ask every host for."""
    return _PROBE.search(path[: 4 * LONGEST_PATH]) is not None


def readable_path(raw_path: bytes) -> str:
    """A requested path without its first slash, as people read it.

    What can't be seen or read stays percent-encoded: blanks, characters of no width, bytes that are no text.
    """
    text = unquote_to_bytes(raw_path).decode("utf-8", "surrogateescape").removeprefix("/")
    return "".join(map(_readable, text))


def _readable(character: str) -> str:
    if character.isprintable() and not character.isspace():
        return character
    return quote(character.encode("utf-8", "surrogateescape"), safe="")


def why_not_kept(path: str) -> NotKept | None:
    """Why this path is not kept; None if it is."""
    if is_probe(path):
        return NotKept.PROBE
    return None if _KEPT.fullmatch(path) else NotKept.UNREADABLE


@dataclass(slots=True)
class PathTally:
    """How often a path was asked for, when last, and from which hosts (DIRECT: from none)."""

    visits: int
    last_at: datetime
    referrers: Counter[str] = field(default_factory=Counter)


# Whose domain it is, its name, and the day in UTC.
DayKey = tuple[OrgId, str, date]


@dataclass(slots=True)
class DayTally:
    """The orphan visits of a domain and day: those whose path is kept, and how many others there were."""

    paths: dict[str, PathTally] = field(default_factory=dict)
    not_kept: Counter[NotKept] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class OrphanBatch:
    """Visits that are stored together, once. No other batch has its id."""

    id: str
    day: DayTally


class OrphanTallies:
    """Orphan visits that are not stored yet. It never has more than MOST_WAITING_PATHS of all domains, nor
    more than half of them of one organization."""

    def __init__(self, id: str) -> None:
        """No other tallies have this id, which their batches' ids begin with."""
        self._id = id
        self._days: dict[DayKey, DayTally] = {}
        # What was taken, and may be stored already. So nothing is added to it any more.
        self._batches: dict[DayKey, OrphanBatch] = {}
        self._taken = 0
        self._paths: Counter[OrgId] = Counter()
        self.dropped = 0

    def add(self, org_id: OrgId, domain: str, path: str, referrer_host: str | None, at: datetime) -> None:
        """Count a visit. `path` is as `readable_path` gives it."""
        key = (org_id, domain, at.astimezone(UTC).date())
        day = self._day(key)
        if day is None:
            self.dropped += 1
            return
        reason = why_not_kept(path)
        if reason is None:
            if tally := day.paths.get(path) or self._new(org_id, day, path, at):
                tally.visits += 1
                tally.last_at = max(tally.last_at, at)
                referrer = referrer_host or DIRECT
                is_known = referrer in tally.referrers or len(tally.referrers) < MOST_REFERRERS
                tally.referrers[referrer if is_known else OTHER_REFERRERS] += 1
                return
            reason = NotKept.TOO_MANY
        day.not_kept[reason] += 1

    def take(self) -> Mapping[DayKey, OrphanBatch]:
        """A batch of each domain and day with visits: the one taken before, until it is `stored`."""
        for key in [key for key in self._days if key not in self._batches]:
            self._taken += 1
            self._batches[key] = OrphanBatch(f"{self._id}/{self._taken}", self._days.pop(key))
        return dict(self._batches)

    def stored(self, key: DayKey, batch: OrphanBatch) -> None:
        """Note that this batch of the domain and day is stored."""
        if self._batches.get(key) is batch:
            del self._batches[key]
            self._paths[key[0]] -= len(batch.day.paths)
            self._paths += Counter()  # which forgets organizations that have none left

    def take_dropped(self) -> int:
        """How many visits were dropped since the last call, since they were of too many domains."""
        dropped, self.dropped = self.dropped, 0
        return dropped

    def _day(self, key: DayKey) -> DayTally | None:
        day = self._days.get(key)
        if day is None and (key in self._batches or self._has_room_for_day(key[0])):
            day = self._days[key] = DayTally()
        return day

    def _has_room_for_day(self, org_id: OrgId) -> bool:
        owners = [owner for owner, *_ in (*self._days, *self._batches)]
        return _has_room(owners.count(org_id), len(owners), MOST_WAITING_DAYS)

    def _new(self, org_id: OrgId, day: DayTally, path: str, at: datetime) -> PathTally | None:
        has_room = _has_room(self._paths[org_id], self._paths.total(), MOST_WAITING_PATHS)
        if len(day.paths) >= MOST_PATHS_A_DAY or not has_room:
            return None
        self._paths[org_id] += 1
        tally = day.paths[path] = PathTally(0, at)
        return tally


def _has_room(of_one: int, of_all: int, most: int) -> bool:
    """Whether an organization that has so many waiting may have one more, where all have so many."""
    return of_all < most and of_one < most // 2


@dataclass(frozen=True, slots=True)
class Orphan:
    """A path of a domain that no link has, and the visits of a stretch of days.

    `settled` are those of days of which nothing is counted any more.
    """

    path: str
    visits: int
    settled: int
    last_at: datetime
    referrers: Mapping[str, int]

    @property
    def hosts(self) -> list[tuple[str, int]]:
        """The hosts that visitors came from (DIRECT: from none) and their visits, most visits first."""
        return sorted(self.referrers.items(), key=lambda host: (-host[1], host[0]))
