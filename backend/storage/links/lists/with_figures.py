"""A list of links with what came of each, as reports have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.analytics.answer import Row, Value, Values
from backend.domain.analytics.figures import GroupSums, value_of
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Query
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.links.listing import LinkSort
from backend.domain.reports.links import LinkList, SharedLink, SharedLinks
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery, CountByLink
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError, is_too_slow
from backend.storage.links.lists.listing import (
    MOST_RANKED,
    TooManyToRank,
    count_matching,
    find_in_order,
    list_page,
    matching_ids,
    sorted_by_values,
)

# Seconds. An organization with millions of links can ask for a list that would take longer.
_LIST_TIMEOUT = 20


async def list_with_figures(
    database: Database, analytics: Analytics, org_id: OrgId, listed: LinkList, now: datetime
) -> SharedLinks:
    """The first links of the list, as many as its query's limit says, each with its figures.

    Raises InvalidField for more links than can be sorted, or read in time, and StorageError.
    """
    try:
        with deadline(_LIST_TIMEOUT):
            links, total = await _first(database, analytics, org_id, listed, now)
    except TooManyToRank:
        rule = f"can't sort more than {MOST_RANKED:,} links by what came of them; filters leave fewer"
        raise InvalidField("order_by", rule) from None
    except StorageError as error:
        if not is_too_slow(error):
            raise
        raise InvalidField("filters", "leave more links than can be looked through in time") from None
    rows = await _rows(analytics, org_id, listed.query, links)
    nothing = _nothing(listed.query)
    return SharedLinks(listed.query, [_shared(link, rows.get(link.id, nothing)) for link in links], total)


async def _first(
    database: Database, analytics: Analytics, org_id: OrgId, listed: LinkList, now: datetime
) -> tuple[list[Link], int]:
    """The first links of the list, and how many it has."""
    chosen, order, query = listed.filter, listed.order, listed.query
    if isinstance(order, LinkSort):
        links = await list_page(database, org_id, chosen, order, now=now, skip=0, limit=query.limit)
        total = (
            len(links) if len(links) < query.limit else await count_matching(database, org_id, chosen, now)
        )
        return links, total
    measure, is_descending = order
    counted = await analytics.ask(org_id, CountByLink(replace(query, measures=(measure,), compare=None)))
    ids = await matching_ids(database, org_id, chosen, now, MOST_RANKED)
    values = _sizes(counted, measure)
    sorting = partial(sorted_by_values, ids, values, is_descending=is_descending)
    ranked = await LONG_WORK.run(org_id, sorting)
    return await find_in_order(database, org_id, ranked[: query.limit]), len(ids)


def _sizes(counted: Mapping[LinkId, Values], measure: Measure) -> dict[LinkId, int | float | Decimal]:
    """The number by which each link is sorted: of amounts, that in the currency with the most."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for values in counted.values():
        for currency, amount in _amounts(values[measure]).items():
            sums[currency] += amount
    main = max(sums, key=lambda currency: (sums[currency], currency), default="")
    return {
        link_id: _amounts(value).get(main, Decimal())
        if isinstance(value := values[measure], Mapping)
        else value or 0
        for link_id, values in counted.items()
    }


def _amounts(value: Value) -> dict[str, Decimal]:
    return {name: Decimal(amount) for name, amount in value.items()} if isinstance(value, Mapping) else {}


async def _rows(analytics: Analytics, org_id: OrgId, query: Query, links: list[Link]) -> Mapping[LinkId, Row]:
    """What came of each of the links; links of which nothing came have no row."""
    if not links:
        return {}
    of_links = replace(query, filters={Field.LINK: frozenset[str | None](link.id for link in links)})
    answer = await analytics.ask(org_id, AskQuery(of_links, is_whole=True))
    return {LinkId(row.group[0]): row for row in answer.rows if row.group[0]}


def _nothing(query: Query) -> Row:
    """What is shown of a link of which nothing came."""
    sums = GroupSums()
    values: Values = {measure: value_of(measure, sums, query.currency) for measure in query.measures}
    return Row((None,), values)


def _shared(link: Link, figures: Row) -> SharedLink:
    return SharedLink(link.link_name, link.domain, link.path, link.created_at, figures)
