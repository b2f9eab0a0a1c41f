"""/links: the links, with what came of each in a period.

Who opens it: whoever made a link and looks for it, and whoever asks which links bring something in. What they
decide by it: which of them stay, which are disabled or archived, often many at once (links/bulk).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.figures import label_in, lines_of, meanings_of
from backend.dashboard.analytics.view import PRESETS
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.heading import Heading
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.links.asked_links import COLUMNS, MADE_BY, STATES, AskedLinks, Column, read_asked_links
from backend.dashboard.links.bulk_choice import MOST_AT_ONCE
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.figures import MEASURES, LinkFigures, figures_of, first_links
from backend.domain.analytics.query import Measure
from backend.domain.ids import LinkId
from backend.domain.links.links import Link, LinkState
from backend.domain.links.tags import Tag, tags_on
from backend.storage.accounts.domains import list_domains
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import StorageError, is_too_slow
from backend.storage.links.destinations.broken import find_broken
from backend.storage.links.links import count_links
from backend.storage.links.lists.listing import (
    MOST_RANKED,
    TooManyToRank,
    count_matching,
    find_in_order,
    list_page,
)
from backend.storage.links.tags import find_tags_of, list_tags
from backend.web.current import resources

# Seconds that a list may take; an organization with millions of links can ask for more than that.
_PATIENCE = 20


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the list shows it."""

    link: Link
    short_url: str
    state: LinkState
    tags: Sequence[Tag]
    figures: LinkFigures
    revenue: Sequence[str]
    is_broken: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """The links of a page, and how many there are on all pages. `problem` says why there are none."""

    links: Sequence[Link] = ()
    total: int = 0
    problem: str = ""


@dashboard.get("/links")
async def links() -> Response:
    """One page of the links that the address asks for, with their figures of its period."""
    asked = await read_asked_links()
    return await page(
        "links/listing.html",
        422 if asked.errors or asked.view.errors else 200,
        later=partial(_content, asked),
        asked=asked,
        view=asked.view,
    )


async def _content(asked: AskedLinks) -> dict[str, Any]:
    paged = paging()
    found = await _find(asked, paged)
    currencies, figures = await figures_of(asked.view, (link.id for link in found.links))
    path = url_for("dashboard.links")
    return {
        "path": path,
        "presets": PRESETS,
        "states": STATES,
        "columns": COLUMNS,
        "domains": [
            ("", "All"),
            *((each, each) for each in await list_domains(resources().database, org_id())),
        ],
        "made_by": [("", "All"), *MADE_BY.items()],
        "tags": await list_tags(resources().database, org_id()),
        "chips": asked.chips(path),
        "found": found,
        "rows": await _rows(found.links, figures, currencies),
        "headings": {each.value: _heading(each, asked, path, currencies) for each in Column},
        "paging": paged.with_total(found.total),
        "currencies": currencies,
        "revenue": label_in(Measure.REVENUE, currencies),
        "words": meanings_of(MEASURES),
        "most_at_once": MOST_AT_ONCE,
        "has_links": bool(found.total) or await count_links(resources().database, org_id()) > 0,
    }


async def _find(asked: AskedLinks, paged: Paging) -> _Found:
    if asked.errors or not asked.can_match:
        return _Found()
    try:
        with deadline(_PATIENCE):
            return await _find_sorted(asked, paged)
    except TooManyToRank:
        return _Found(
            problem=f"These are more than {MOST_RANKED:,} links, which can't be sorted by what came of them. "
            "Filters leave fewer."
        )
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return _Found(problem="That took too long. A longer text, a shorter period or filters take less.")


async def _find_sorted(asked: AskedLinks, paged: Paging) -> _Found:
    database, now = resources().database, resources().clock()
    if asked.link_sort:
        total = await count_matching(database, org_id(), asked.wanted, now)
        shown = await list_page(
            database, org_id(), asked.wanted, asked.link_sort, now=now, skip=paged.skip, limit=PAGE_SIZE
        )
        return _Found(shown, total)
    assert asked.measure is not None  # a column is one of the two
    end = paged.skip + PAGE_SIZE
    ids = await first_links(asked.view, asked.wanted, asked.measure, end, is_descending=asked.is_descending)
    total = len(ids) if len(ids) < end else await count_matching(database, org_id(), asked.wanted, now)
    return _Found(await find_in_order(database, org_id(), ids[paged.skip : end]), total)


async def _rows(
    links: Sequence[Link], figures: Mapping[LinkId, LinkFigures], currencies: Sequence[str]
) -> list[LinkRow]:
    tags = await find_tags_of(resources().database, links)
    broken = await find_broken(resources().database, org_id(), [link.id for link in links])
    now = resources().clock()
    return [
        LinkRow(
            link,
            short_url_of(link),
            link.state_at(now),
            tags_on(link.tag_ids, tags),
            figures[link.id],
            _revenue(figures[link.id], currencies),
            link.id in broken,
        )
        for link in links
    ]


def _revenue(figures: LinkFigures, currencies: Sequence[str]) -> list[str]:
    amounts = {each: amount for each, amount in figures.revenue.items() if amount}
    return lines_of(Measure.REVENUE, amounts, currencies) if amounts else ["–"]


def _heading(column: Column, asked: AskedLinks, path: str, currencies: Sequence[str]) -> Heading:
    direction = ""
    if asked.column is column:
        direction = "descending" if asked.is_descending else "ascending"
    # Names begin with A, everything else with what is most or newest.
    first, second = (column.value, f"-{column}") if column is Column.NAME else (f"-{column}", column.value)
    label = label_in(Measure.REVENUE, currencies) if column is Column.REVENUE else COLUMNS[column]
    address = asked.address(path, sort=second if asked.sort == first else first)
    return Heading(label, address, direction, "Conv." if column is Column.CONVERSIONS else "")
