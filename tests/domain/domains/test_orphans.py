"""Orphan visits: which paths are kept, and how many."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from backend.domain.domains import orphans
from backend.domain.domains.orphans import (
    NotKept,
    OrphanTallies,
    is_asked_by_itself,
    readable_path,
    why_not_kept,
)
from backend.domain.ids import OrgId

AT = datetime(2026, 11, 26, 23, 59, tzinfo=UTC)
ORG = OrgId("o")
KEY = (ORG, "go.shop.com", date(2026, 11, 26))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("sprng", None),
        ("summer/sale-2026.", None),
        ("wordplay", None),
        ("wp-login.php", NotKept.PROBE),
        ("blog/wp-includes/wlwmanifest.xml", NotKept.PROBE),
        (".env", NotKept.PROBE),
        (".git/config", NotKept.PROBE),
        ("cgi-bin/luci", NotKept.PROBE),
        ("index.php7", NotKept.PROBE),
        ("ada@shop.example", NotKept.UNREADABLE),
        ("ada%40shop.example", NotKept.UNREADABLE),
        ("ada%2540shop.example", NotKept.UNREADABLE),
        ("sale-40%25", None),
        ("x" * 129, NotKept.UNREADABLE),
        ("späti", None),
        ("nothing%E2%80%8B", None),
    ],
)
def test_paths_of_scanners_and_addresses_are_not_kept(path: str, reason: NotKept | None) -> None:
    """What nobody has typed, what may name a person, and what is too long is only counted."""
    assert why_not_kept(path) == reason


@pytest.mark.parametrize(
    ("raw_path", "read"),
    [
        (b"/sprng", "sprng"),
        (b"/sp%C3%A4ti%2Fx", "späti/x"),
        (b"/sprng%20", "sprng%20"),
        (b"/sprng%E2%80%8B%C2%A0", "sprng%E2%80%8B%C2%A0"),
        (b"/%E2%80%AEgnp", "%E2%80%AEgnp"),
        (b"/%FF%C3", "%FF%C3"),
        (b"/a%00%0Ab", "a%00%0Ab"),
        (b"/50%", "50%"),
        ("/sp\u00e4ti".encode(), "späti"),
    ],
)
def test_paths_are_kept_as_people_read_them(raw_path: bytes, read: str) -> None:
    """Letters of any language as such; what can't be seen, and bytes that are no text, percent-encoded."""
    assert readable_path(raw_path) == read


def test_what_browsers_ask_for_by_themselves_is_no_visit() -> None:
    """Icons, site maps and files of well-known places."""
    for path in ("apple-touch-icon-120x120.png", "sitemap.xml", "ads.txt", ".well-known/security.txt"):
        assert is_asked_by_itself(path)
    assert not is_asked_by_itself("apple")


def test_visits_are_counted_by_path_and_referrer() -> None:
    """Of each domain and day in UTC. A batch that was taken is given again as it was, until it is stored;
    what came meanwhile is the next one."""
    tallies = OrphanTallies("a")
    for minute, referrer in enumerate([None, "news.example", "news.example"]):
        tallies.add(ORG, "go.shop.com", "sprng", referrer, AT + timedelta(seconds=minute))
    tallies.add(ORG, "go.shop.com", "sprng", None, AT + timedelta(days=1))
    tallies.add(ORG, "go.shop.com", "wp-login.php", None, AT)
    taken = tallies.take()
    assert len(taken) == 2
    tally = taken[KEY].day.paths["sprng"]
    assert (tally.visits, tally.last_at) == (3, AT + timedelta(seconds=2))
    assert tally.referrers == {"": 1, "news.example": 2}
    assert taken[KEY].day.not_kept == {NotKept.PROBE: 1}
    tallies.add(ORG, "go.shop.com", "sprng", "news.example", AT)
    again = tallies.take()
    assert again == taken
    assert (tally.visits, again[KEY].day.paths["sprng"].visits) == (3, 3)
    for _ in range(2):  # as where two tell of the same batch
        for key, batch in again.items():
            tallies.stored(key, batch)
        later = tallies.take()
        assert [(key, batch.day.paths["sprng"].visits) for key, batch in later.items()] == [(KEY, 1)]
    assert later[KEY].id not in {batch.id for batch in taken.values()}
    tallies.stored(KEY, later[KEY])
    assert tallies.take() == {}


def test_a_scan_of_one_organization_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many paths of however many of its domains are asked for, another's orphans are kept."""
    monkeypatch.setattr(orphans, "MOST_WAITING_PATHS", 8)
    monkeypatch.setattr(orphans, "MOST_WAITING_DAYS", 4)
    tallies, other = OrphanTallies("a"), OrgId("other")
    for domain in ("a", "b", "c"):
        for number in range(9):
            tallies.add(ORG, domain, f"path{number}", None, AT)
    for domain in ("d", "e"):
        tallies.add(other, domain, "sprng", None, AT)
    kept = [(key[:2], [*batch.day.paths]) for key, batch in tallies.take().items()]
    assert [domains for domains, paths in kept if paths == ["sprng"]] == [(other, "d"), (other, "e")]
    assert sum(len(paths) for _, paths in kept) == 4 + 2


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By paths of a day, of all domains, by domains, and by referrers; what goes beyond is counted."""
    monkeypatch.setattr(orphans, "MOST_PATHS_A_DAY", 3)
    monkeypatch.setattr(orphans, "MOST_WAITING_PATHS", 8)  # half for one organization
    monkeypatch.setattr(orphans, "MOST_WAITING_DAYS", 4)
    monkeypatch.setattr(orphans, "MOST_REFERRERS", 2)
    tallies = OrphanTallies("a")
    for number in range(9):
        for domain in ("a", "b", "c"):
            tallies.add(ORG, domain, f"path{number}", None, AT)
        tallies.add(ORG, "a", "path0", f"host{number}", AT)
    assert tallies.take_dropped() == 9
    taken = tallies.take()
    kept = {
        domain: (len(batch.day.paths), batch.day.not_kept[NotKept.TOO_MANY])
        for (_, domain, _), batch in taken.items()
    }
    assert kept == {"a": (2, 7), "b": (2, 7)}
    busy = taken[ORG, "a", KEY[2]].day.paths["path0"]
    assert (busy.visits, busy.referrers) == (10, {"": 1, "host0": 1, "other": 8})
    for domain in ("a", "d"):  # what is taken has its room until it is stored
        tallies.add(ORG, domain, "path9", None, AT)
    assert (tallies.take_dropped(), tallies.take_dropped()) == (1, 0)
    for key, batch in taken.items():
        tallies.stored(key, batch)
    assert [batch.day.not_kept[NotKept.TOO_MANY] for batch in tallies.take().values()] == [1]
    tallies.add(ORG, "d", "path9", None, AT)
    assert [len(batch.day.paths) for batch in tallies.take().values()] == [0, 1]
