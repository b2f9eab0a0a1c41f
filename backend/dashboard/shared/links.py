"""What the page of a report of a list of links shows, and the lines of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from backend.dashboard.analytics.figures import label_in, lines_of, meanings_of, number
from backend.dashboard.shared.shown import currencies_of_rows
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Query
from backend.domain.analytics.rows import Cell
from backend.domain.reports.links import LinkList, SharedLink, SharedLinks
from backend.domain.web.short_urls import ShortUrlForm


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link: its name, its short URL, and as texts what came of it and when it was made."""

    name: str
    short_url: str
    cells: Sequence[tuple[str, Sequence[str]]]
    made: str

    @property
    def host_and_path(self) -> str:
        """The short URL as people say it."""
        return self.short_url.partition("://")[2]


@dataclass(frozen=True, slots=True)
class ShownLinks:
    """The first links of a list of `total`, below their headings; `order` says in words which come first."""

    order: str
    headings: Sequence[str]
    rows: Sequence[ShownLink]
    total: int
    words: Sequence[tuple[str, str]]

    @property
    def left_out(self) -> int:
        """How many links are not shown."""
        return self.total - len(self.rows)


def shown_links(found: SharedLinks, listed: LinkList, form: ShortUrlForm) -> ShownLinks:
    """What a page shows of the list."""
    query = found.query
    currencies = _currencies(found)
    return ShownLinks(
        listed.order_words,
        [label_in(measure, currencies) for measure in query.measures],
        [_row(link, query, currencies, form) for link in found.links],
        found.total,
        meanings_of(query.measures),
    )


def lines_of_links(found: SharedLinks, form: ShortUrlForm) -> list[list[Cell]]:
    """A line for each link, below their headings, with exact amounts."""
    currencies, measures = _currencies(found), found.query.measures
    counts = [measure for measure in measures if not measure.is_money]
    amounts = currencies if Measure.REVENUE in measures else []
    heads: list[Cell] = ["link_name", "short_url", "made", *counts, *(f"revenue_{name}" for name in amounts)]
    return [heads, *(_cells(link, found.query.period.zone, counts, amounts, form) for link in found.links)]


def _row(link: SharedLink, query: Query, currencies: Sequence[str], form: ShortUrlForm) -> ShownLink:
    cells = [
        (label_in(measure, currencies), lines_of(measure, link.figures.values[measure], currencies))
        for measure in query.measures
    ]
    return ShownLink(link.name, form.write(link.domain, link.path), cells, _day(link, query.period.zone))


def _cells(
    link: SharedLink, zone: tzinfo, counts: Sequence[Measure], amounts: Sequence[str], form: ShortUrlForm
) -> list[Cell]:
    values = link.figures.values
    return [
        link.name,
        form.write(link.domain, link.path),
        link.made_at.astimezone(zone).date().isoformat(),
        *(str(values[measure]) for measure in counts),
        *(f"{number(values[Measure.REVENUE], currency) or 0}" for currency in amounts),
    ]


def _currencies(found: SharedLinks) -> list[str]:
    return currencies_of_rows(found.query, (link.figures.values for link in found.links))


def _day(link: SharedLink, zone: tzinfo) -> str:
    return f"{link.made_at.astimezone(zone):%-d %b %Y}"
