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
    for click in clicks:
        what = (click.outcome.value, click.reason, click.platform, click.system, click.browser)
        quarter = click.at.hour * 4 + click.at.minute // 15
        rows[click.link_id, quarter, what, click.country, click.referrer_host, click.variant] += 1
        if click.visitor is not None:
            visitors.setdefault(click.link_id, set()).add(click.visitor)
    return rows, {link: len(found) for link, found in visitors.items()}


def in_summaries(summaries: Sequence[SummaryColumns]) -> Sums:
    """What these summaries of one day have together."""
    rows: Counter[Alike] = Counter()
    visitors: dict[str, set[int]] = {}
    for summary in summaries:
        for (link, quarter, what, *facts), weight in zip(summary.alike, summary.weight, strict=True):
            values: Any = zip((summary.countries, summary.referrers, summary.variants), facts, strict=True)
            named = [table[place] for table, place in values]
            rows[summary.links[link], quarter, summary.whats[what], *named] += weight
        for link, visitor in zip(summary.visitor_link, summary.visitor, strict=True):
            visitors.setdefault(summary.links[link], set()).add(visitor)
    return rows, {link: len(found) for link, found in visitors.items()}


def all_visitors(summaries: Iterable[SummaryColumns]) -> int:
    """How many different visitors all links have together."""
    return len({visitor for summary in summaries for visitor in summary.visitor})
