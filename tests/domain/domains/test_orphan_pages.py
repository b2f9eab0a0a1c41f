"""Pages of orphans, while their visits are counted."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.domains.orphan_pages import OrphanPlace, page_behind
from backend.domain.domains.orphans import Orphan
from tests.examples import examples

BEGUN_AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
VISITS = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 9), max_size=10)


def in_order(settled: Counter[str], today: Counter[str]) -> list[Orphan]:
    """The list that storage gives of these visits."""
    both = settled + today
    orphans = [Orphan(path, both[path], settled[path], BEGUN_AT, {}) for path in both]
    return sorted(orphans, key=lambda orphan: (-orphan.visits, orphan.path))


@settings(max_examples=examples(200), deadline=None)
@given(settled=VISITS, grows=st.lists(VISITS, min_size=1, max_size=12), size=st.integers(1, 4))
def test_every_path_comes_once(settled: dict[str, int], grows: list[dict[str, int]], size: int) -> None:
    """However visits grow between pages, all that were there at first come, and none comes twice."""
    before, today = Counter(settled), Counter[str]()
    place: OrphanPlace | None = None
    shown: list[str] = []
    at_first: set[str] = set()
    for number in range(100):
        today.update(grows[number] if number < len(grows) else {})
        orphans = in_order(before, today)
        at_first = at_first or {orphan.path for orphan in orphans}
        page, place = page_behind(orphans, place, begun_at=BEGUN_AT, size=size)
        shown += [orphan.path for orphan in page]
        if place is None:
            break
        assert len(page) == size
        assert len(place.marks) <= sum(path in today for path in shown)
    assert len(shown) == len(set(shown))
    assert at_first <= set(shown)
