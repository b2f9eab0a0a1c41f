"""/links: the list of links, each with its figures in a period.

People open it to find a link that they made, or to see which links lead to sales. They decide by it which
links stay and which are disabled or archived, often many at once (links/bulk).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.figures import label_in, lines_of, meanings_of
from backend.dashboard.analytics.rows_behind import rows_address
from backend.dashboard.analytics.view import PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.heading import Heading
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.links.bulk_choice import MOST_BULK_LINKS
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.figures import MEASURES, LinkFigures, figures_of, first_links
from backend.dashboard.links.found_ids import Found, find_by_id
from backend.dashboard.links.link_query import COLUMNS, MADE_BY, STATES, Column, LinkQuery, read_link_query
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field
from backend.domain.ids import LinkId
from backend.domain.links.links import Link, LinkState
from backend.domain.links.tags import Tag, tags_on
from backend.domain.visitors.call_texts import as_stored
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

# Seconds. An organization with millions of links can ask for a list that would take longer.
_LIST_TIMEOUT = 20


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the list shows it."""

    link: Link
    short_url: str
    state: LinkState
    tags: Sequence[Tag]
    figures: LinkFigures
    revenue: Sequence[str]
    addresses: Mapping[str, str]
    is_broken: bool


@dataclass(frozen=True, slots=True)
class _LinkPage:
    """The links of a page, and their `total` on all pages. If they can't be listed, `problem` says why."""

    links: Sequence[Link] = ()
    total: int = 0
    problem: str = ""


@dashboard.get("/links")
@needs(Permission.LINKS_READ)
async def links() -> Response:
    """One page of the links that the address asks for, with their figures of its period."""
    query = await read_link_query()
    return await page(
        "links/listing.html",
        422 if query.errors or query.view.errors else 200,
        later=partial(_content, query),
        query=query,
        view=query.view,
    )


async def _content(query: LinkQuery) -> dict[str, Any]:
    paged = paging()
    link_page = await _find(query, paged)
    currencies, figures = await figures_of(query.view, (link.id for link in link_page.links))
    path = url_for("dashboard.links")
    return {
        "path": path,
        "presets": PRESETS,
        "states": STATES,
        "columns": COLUMNS,
        "domains": [
            ("", "All"),
            *((domain, domain) for domain in await list_domains(resources().database, org_id())),
        ],
        "made_by": [("", "All"), *MADE_BY.items()],
        "tags": await list_tags(resources().database, org_id()),
        "chips": query.chips(path),
        "link_page": link_page,
        "rows": await _rows(query.view, link_page.links, figures, currencies),
        "headings": {column.value: _heading(column, query, path, currencies) for column in Column},
        "paging": paged.with_total(link_page.total),
        "currencies": currencies,
        "revenue": label_in(Measure.REVENUE, currencies),
        "words": meanings_of(MEASURES),
        "most_bulk_links": MOST_BULK_LINKS,
        "by_id": await find_by_id(text) if (text := as_stored(query.text("q"))) else Found(),
        "has_links": bool(link_page.total) or await count_links(resources().database, org_id()) > 0,
    }


async def _find(query: LinkQuery, paged: Paging) -> _LinkPage:
    if query.errors or not query.can_match:
        return _LinkPage()
    try:
        with deadline(_LIST_TIMEOUT):
            return await _find_sorted(query, paged)
    except TooManyToRank:
        return _LinkPage(
            problem=f"These are more than {MOST_RANKED:,} links, which can't be sorted by what came of them. "
            "Filters leave fewer."
        )
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return _LinkPage(problem="That took too long. A longer text, a shorter period or filters take less.")


async def _find_sorted(query: LinkQuery, paged: Paging) -> _LinkPage:
    database, now = resources().database, resources().clock()
    if query.link_sort:
        total = await count_matching(database, org_id(), query.filter, now)
        shown = await list_page(
            database, org_id(), query.filter, query.link_sort, now=now, skip=paged.skip, limit=PAGE_SIZE
        )
        return _LinkPage(shown, total)
    assert query.measure is not None  # an order is by a field of links or by a measure
    end = paged.skip + PAGE_SIZE
    ids = await first_links(query.view, query.filter, query.measure, end, is_descending=query.is_descending)
    total = len(ids) if len(ids) < end else await count_matching(database, org_id(), query.filter, now)
    return _LinkPage(await find_in_order(database, org_id(), ids[paged.skip : end]), total)


async def _rows(
    view: View, links: Sequence[Link], figures: Mapping[LinkId, LinkFigures], currencies: Sequence[str]
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
            {measure.value: rows_address(measure, view, Field.LINK, link.id) for measure in MEASURES},
            link.id in broken,
        )
        for link in links
    ]


def _revenue(figures: LinkFigures, currencies: Sequence[str]) -> list[str]:
    amounts = {currency: amount for currency, amount in figures.revenue.items() if amount}
    return lines_of(Measure.REVENUE, amounts, currencies) if amounts else ["–"]


def _heading(column: Column, query: LinkQuery, path: str, currencies: Sequence[str]) -> Heading:
    direction = ""
    if query.column is column:
        direction = "descending" if query.is_descending else "ascending"
    # The first click sorts names from A to Z, and every other column from the newest or largest.
    first, second = (column.value, f"-{column}") if column is Column.NAME else (f"-{column}", column.value)
    label = label_in(Measure.REVENUE, currencies) if column is Column.REVENUE else COLUMNS[column]
    address = query.address(path, sort=second if query.sort == first else first)
    return Heading(label, address, direction, "Conv." if column is Column.CONVERSIONS else "")
