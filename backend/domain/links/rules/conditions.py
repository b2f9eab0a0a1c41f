"""The conditions of rules, as tests of a visit that are made once for each link in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from backend.domain.fields.time_zones import known_zone
from backend.domain.web.client import Client

_DAY = timedelta(days=1)
_SLOW_CONDITIONS = frozenset({"query", "weekdays", "hours"})
_WHOLE_DAY = {"from": "00:00", "until": "24:00", "timezone": "UTC"}


@dataclass(slots=True)  # not frozen: it is made for each redirect by rules, and would take twice as long
class Circumstances:
    """What rules can ask of a visit.

    `language` is the tag that the visitor likes best, in lower case; `query` is the query string as it was
    sent. `is_returning` says whether the SDK has seen the device before. `share`, from `share_of`, decides
    which part of a split the visitor belongs to.
    """

    client: Client
    at: datetime
    country: str | None = None
    language: str | None = None
    query: str = ""
    is_returning: bool = False
    share: float = 0.0


Test = Callable[[Circumstances], bool]


def tests_of(conditions: Mapping[str, Any]) -> Iterator[Test]:
    """A test for each condition, all of which must hold: those that take longest come last."""
    for name, value in sorted(conditions.items(), key=lambda condition: condition[0] in _SLOW_CONDITIONS):
        if name == "hours" or (name == "weekdays" and "hours" not in conditions):
            yield _on_the_clock(conditions.get("weekdays", ()), conditions.get("hours", _WHOLE_DAY))
        elif name != "weekdays":
            # A later version may have stored conditions that this one does not know.
            yield _TESTS.get(name, _never)(value)


def _never(_: object) -> Test:
    return lambda visit: False


def _platform(names: Collection[str]) -> Test:
    platforms = frozenset(names)
    return lambda visit: visit.client.platform in platforms


def _system(names: Collection[str]) -> Test:
    systems = frozenset(name.casefold() for name in names)
    return lambda visit: (visit.client.system or "").casefold() in systems


def _browser(names: Collection[str]) -> Test:
    browsers = frozenset(name.casefold() for name in names)
    return lambda visit: (visit.client.browser or "").casefold() in browsers


def _country(codes: Collection[str]) -> Test:
    countries = frozenset(codes)
    return lambda visit: visit.country in countries


def _language(tags: Collection[str]) -> Test:
    """De is also de-AT, but de-AT is not de (RFC 4647, "Basic Filtering")."""
    languages = frozenset(tag.lower() for tag in tags)
    narrower = tuple(f"{tag}-" for tag in languages)
    return lambda visit: (
        visit.language is not None and (visit.language in languages or visit.language.startswith(narrower))
    )


def _query(parameters: Mapping[str, str | None]) -> Test:
    required = tuple(parameters.items())

    def test(visit: Circumstances) -> bool:
        if not visit.query:
            return False
        sent = _parameters(visit.query)
        return all(name in sent and (value is None or value in sent[name]) for name, value in required)

    return test


@lru_cache(maxsize=64)  # all rules of a link ask for the same one
def _parameters(query: str) -> Mapping[str, Sequence[str]]:
    return parse_qs(query, keep_blank_values=True)


def _from(text: str) -> Test:
    begin = datetime.fromisoformat(text)
    return lambda visit: visit.at >= begin


def _until(text: str) -> Test:
    end = datetime.fromisoformat(text)
    return lambda visit: visit.at < end


def _device(word: str) -> Test:
    is_returning = word == "returning"
    return lambda visit: visit.is_returning is is_returning


def unknown_zones(rules: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of time zones in these rules that this host does not know: their rules fit nobody."""
    names = {rule["if"]["hours"]["timezone"] for rule in rules if "hours" in rule["if"]}
    return sorted(name for name in names if _zone(name) is None)


def _zone(name: str) -> tzinfo | None:
    return UTC if name == "UTC" else known_zone(name)


def _on_the_clock(weekdays: Collection[int], hours: Mapping[str, str]) -> Test:
    """On these weekdays (all if there are none) between these hours, by the clock of their time zone.

    Hours that pass midnight belong to the weekday on which they begin. If this host does not know the time
    zone, it never is.
    """
    zone = _zone(hours["timezone"])
    if zone is None:
        return _never(hours)
    begin, end = _minute(hours["from"]), _minute(hours["until"])
    days = frozenset(weekdays or range(1, 8))

    def test(visit: Circumstances) -> bool:
        local = visit.at.astimezone(zone)
        minute = local.hour * 60 + local.minute
        if begin < end:
            return begin <= minute < end and local.isoweekday() in days
        if minute >= begin:
            return local.isoweekday() in days
        return minute < end and (local - _DAY).isoweekday() in days

    return test


def _minute(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


_TESTS: Mapping[str, Callable[[Any], Test]] = {
    "platform": _platform,
    "system": _system,
    "browser": _browser,
    "language": _language,
    "country": _country,
    "query": _query,
    "from": _from,
    "until": _until,
    "device": _device,
}
