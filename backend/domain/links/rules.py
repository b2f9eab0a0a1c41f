"""Rules of a link: which of its visitors go elsewhere than to its destination (extensions, "Links").

A rule is kept as the JSON in which it was given, in the one form that `link_rule_input` writes. It is
compiled once for each link in memory; deciding then costs a few calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo

from backend.domain.ids import LinkId
from backend.domain.web.addresses import network_of
from backend.domain.web.client import Client, Platform

if TYPE_CHECKING:
    from backend.domain.links.links import Link

# A rule as JSON: {"if": {<condition>: ...}, "then": {"destination_url": ...} or {"split": [...]}}.
RuleJson = Mapping[str, Any]
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


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where a rule leads: the link with another destination. `number` is the rule's place, from 0.

    `variant` is the name of the part of a split.
    """

    number: int
    link: Link
    variant: str | None = None


class CompiledRules:
    """The rules of a link, ready to decide. `splits` says whether they ask for the visitor's share.

    `size` is the number of addresses to which they lead.
    """

    __slots__ = ("_rules", "size", "splits")

    def __init__(self, link: Link) -> None:
        self._rules = [
            (tuple(_tests(rule["if"])), targets, _bounds(rule["then"]))
            for number, rule in enumerate(link.rules)
            if (targets := _targets(link, number, rule["then"]))
        ]
        self.splits = any(bounds for _, _, bounds in self._rules)
        self.size = sum(len(targets) for _, targets, _ in self._rules)

    def target(self, visit: Circumstances) -> Target | None:
        """Where the first rule leads that fits; None if none does, so that the link decides itself."""
        for tests, targets, bounds in self._rules:
            for test in tests:
                if not test(visit):
                    break
            else:
                return targets[bisect_right(bounds, visit.share)] if bounds else targets[0]
        return None


def share_of(key: bytes, link_id: LinkId, address: str, user_agent: bytes) -> float:
    """A number from 0 to 1, 1 not included, which is the same for a visitor of a link as long as the key is.

    `key` is up to 64 random bytes. Visitors are told apart by address and browser: of an IPv6 address only
    the network counts, since devices change the rest.
    """
    who = f"{link_id}\n{network_of(address)}\n".encode() + user_agent
    return int.from_bytes(blake2b(who, key=key, digest_size=6).digest(), "big") / 2**48


def rule_targets(rules: Sequence[RuleJson], platform: Platform | None = None) -> dict[str, str]:
    """All web addresses that rules lead to, by the name of the field.

    With `platform`, only those to which a visitor on this platform may be led.
    """
    return {
        f"rules[{number}].then.{name}": url
        for number, rule in enumerate(rules)
        if platform is None or platform in rule["if"].get("platform", [platform])
        for name, url in _addresses(rule["then"])
    }


def variant_names(rules: Sequence[RuleJson]) -> set[str]:
    """The names of all parts of the rules' splits."""
    return {part["name"] for rule in rules for part in rule["then"].get("split", ())}


def _addresses(then: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "destination_url" in then:
        yield "destination_url", then["destination_url"]
    for place, part in enumerate(then.get("split", ())):
        yield f"split[{place}].destination_url", part["destination_url"]


def _targets(link: Link, number: int, then: Mapping[str, Any]) -> list[Target]:
    """Where the rule leads; nowhere if only a later version knows what it does."""
    parts = then.get("split") or ([then] if "destination_url" in then else [])
    return [
        Target(number, replace(link, destination_url=part["destination_url"], rules=[]), part.get("name"))
        for part in parts
    ]


def _bounds(then: Mapping[str, Any]) -> list[float]:
    """At which share each part of a split ends, but for the last one; none if nothing is split."""
    weights = list(accumulate(part["weight"] for part in then.get("split", ())))
    return [weight / weights[-1] for weight in weights[:-1]]


def _tests(conditions: Mapping[str, Any]) -> Iterator[Test]:
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
    return lambda visit: visit.client.system.casefold() in systems


def _browser(names: Collection[str]) -> Test:
    browsers = frozenset(name.casefold() for name in names)
    return lambda visit: visit.client.browser.casefold() in browsers


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


def _on_the_clock(weekdays: Collection[int], hours: Mapping[str, str]) -> Test:
    """On these weekdays (all if there are none) between these hours, by the clock of their time zone.

    Hours that pass midnight belong to the weekday on which they begin.
    """
    zone = UTC if hours["timezone"] == "UTC" else ZoneInfo(hours["timezone"])
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
