"""A link as the cache keeps it: it counts with the memory that it takes, whatever that is made of."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, get_type_hints

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Behavior, CreatedBy, Hold, ImportedClicks, Link, QueryPrecedence
from backend.domain.links.rules.conditions import Circumstances
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.links import cached_link
from backend.redirector.links.cached_link import LINK_BYTES, CachedLink
from backend.system.clock import utc_now

NOW = utc_now()
LINK = Link(LinkId("1" * 36), OrgId("2" * 36), "go.shop.example", "a", "https://shop.example/", "A", NOW, NOW)
PHONE = Client(ClientKind.BROWSER, Platform.IOS)
LONG = "x" * 40_000
RULES = [{"if": {"country": ["DE"]}, "then": {"destination_url": f"{number}{LONG}"}} for number in range(20)]
# A large value of each type that fields of a link have; None where all values are small.
LARGE: dict[object, Any] = {
    **dict.fromkeys((LinkId, str, str | None), LONG),
    **dict.fromkeys(
        (bool, int | None, datetime, datetime | None, Behavior, CreatedBy, QueryPrecedence | None)
    ),
    OrgId: None,  # one text for all links of an organization
    dict[str, str]: {f"name {number}": f"{number}{LONG}" for number in range(5)},
    dict[str, Any] | None: {"a": [LONG]},
    list[str] | None: [f"{number}{LONG}" for number in range(50)],
    list[TagId]: [LONG],
    list[dict[str, Any]]: RULES,
    ImportedClicks | None: ImportedClicks(1, LONG, NOW),
    Hold | None: Hold(NOW, LONG),
}
SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)


def held_bytes(entry: CachedLink) -> int:
    """The memory of all that the entry refers to, but for classes and functions."""
    found: dict[int, object] = {}
    waiting: list[object] = [entry]
    while waiting:
        value = waiting.pop()
        if id(value) not in found and not isinstance(value, SHARED):
            found[id(value)] = value
            waiting += gc.get_referents(value)
    return sum(map(sys.getsizeof, found.values()))


def large_values(kind: type) -> Iterator[tuple[str, Any]]:
    """The fields of a link or of its limits that can have a large value, each with one."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        if hints[field.name] is LinkLimits:
            yield from (("limits", LinkLimits(**{name: large})) for name, large in large_values(LinkLimits))
        elif (large := LARGE[hints[field.name]]) is not None:
            yield field.name, large


def entries() -> Iterator[Any]:
    """Entries, each with one thing that is large."""
    for name, large in large_values(Link):
        value = str(next(iter(vars_of(large)), name)) if name == "limits" else name
        if name != "domain":  # which is one text for all links
            yield pytest.param(CachedLink(replace(LINK, **{name: large}), Apps(), 0), id=value)
    android = AndroidApp("com.shop.app", tuple(f"{number:02X}:" * 31 + "00" for number in range(200)))
    yield pytest.param(CachedLink(LINK, Apps(android=android), 0), id="android")
    yield pytest.param(CachedLink(LINK, Apps(IosApp("A1B2C3D4E5", f"com.{LONG}")), 0), id="ios")
    forwarding = replace(
        LINK, destination_url="https://shop.example/?" + "&".join(f"a{n}={{query.b{n}}}" for n in range(3000))
    )
    yield pytest.param(CachedLink(forwarding, Apps(), 0), id="forwarding")
    below = {f"a/{number}/{'x' * 400}" for number in range(900)}
    yield pytest.param(CachedLink(replace(LINK, forwards_path=True), Apps(), 0, below), id="below")


def vars_of(limits: LinkLimits) -> list[str]:
    """The names of the limits that are set to a text."""
    return [field.name for field in fields(limits) if isinstance(getattr(limits, field.name), str)]


@pytest.mark.parametrize("entry", [*entries()])
def test_an_entry_counts_with_what_it_takes(entry: CachedLink) -> None:
    """In each field that there is; a new field whose type is not known here has to be added above."""
    usual = held_bytes(CachedLink(LINK, Apps(), 0))
    assert held_bytes(entry) - usual <= 1.5 * entry.size * LINK_BYTES


def test_paths_that_come_later_count() -> None:
    """As those do that were there; beyond the most that are kept, none are."""
    entry = CachedLink(replace(LINK, forwards_path=True), Apps(), 0, set())
    sizes = []
    for number in range(4):
        entry.add_below(f"a/{number}{LONG}", 3)
        sizes.append(entry.size)
    assert sizes[0] > 40
    assert sizes == [sizes[0], sizes[1], sizes[2], 1]
    assert sizes[2] > 2.9 * sizes[0]


def test_equal_fields_are_kept_once_and_as_long_as_a_link_has_them() -> None:
    """Links of a campaign share its UTM fields; with the last one they are forgotten."""
    utm = {"utm_source": "mail", "utm_campaign": "a campaign of no other test"}
    entries = [CachedLink(replace(LINK, utm=dict(utm)), Apps(), 0) for _ in range(2)]
    assert entries[0].link.utm is entries[1].link.utm
    assert entries[0].link.utm == utm
    kept = len(cached_link._SHARED)
    entries.clear()
    gc.collect()
    assert len(cached_link._SHARED) == kept - 1


@pytest.mark.parametrize("name", ["Mars/Base", "Europe", "../UTC", ""])
def test_a_time_zone_that_this_host_does_not_know(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Its rule fits nobody, the log says so, and the link and its next rule go on."""
    hours = {"from": "00:00", "until": "24:00", "timezone": name}
    then = {"destination_url": "https://there.example/"}
    rules: list[dict[str, Any]] = [{"if": {"hours": hours}, "then": then}, {"if": {}, "then": then}]
    entry = CachedLink(replace(LINK, rules=rules), Apps(), 0.0)
    assert entry.rules is not None
    target = entry.rules.target(Circumstances(PHONE, NOW))
    assert target is not None
    assert target.number == 1
    assert f"link {LINK.id} fit nobody: no time zone {name}" in caplog.text
