"""What summaries of clicks have, in a form that tests can compare with the clicks themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from backend.domain.clicks.clicks import Click
from backend.domain.clicks.summary import Alike, SummaryColumns

# Requests by what is alike of them, and the number of different visitors by link.
Sums = tuple[Counter[Alike], dict[str, int]]


def counted_one_by_one(clicks: Iterable[Click]) -> Sums:
    """What summaries of these clicks, which are of one day, are to have."""
    rows: Counter[Alike] = Counter()
    visitors: dict[str, set[int]] = {}
    for each in clicks:
        what = (each.outcome.value, each.reason, each.platform, each.system, each.browser)
        quarter = each.at.hour * 4 + each.at.minute // 15
        rows[each.link_id, quarter, what, each.country, each.referrer_host, each.variant] += 1
        if each.visitor is not None:
            visitors.setdefault(each.link_id, set()).add(each.visitor)
    return rows, {link: len(found) for link, found in visitors.items()}


def in_summaries(summaries: Sequence[SummaryColumns]) -> Sums:
    """What these summaries of one day have together."""
    rows: Counter[Alike] = Counter()
    visitors: dict[str, set[int]] = {}
    for each in summaries:
        for (link, quarter, what, *facts), weight in zip(each.alike, each.weight, strict=True):
            values: Any = zip((each.countries, each.referrers, each.variants), facts, strict=True)
            named = [table[place] for table, place in values]
            rows[each.links[link], quarter, each.whats[what], *named] += weight
        for link, visitor in zip(each.visitor_link, each.visitor, strict=True):
            visitors.setdefault(each.links[link], set()).add(visitor)
    return rows, {link: len(found) for link, found in visitors.items()}


def all_visitors(summaries: Iterable[SummaryColumns]) -> int:
    """How many different visitors all links have together."""
    return len({visitor for each in summaries for visitor in each.visitor})
