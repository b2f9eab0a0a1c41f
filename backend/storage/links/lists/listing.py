"""Lists links of an organization by filters, in every order, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link, LinkState
from backend.domain.links.listing import LinkFilter, LinkOrder, LinkSort
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database, Document
from backend.storage.links import links
from backend.storage.links.tags import find_tag_ids

# The value that a link is sorted by, and its id: the next page begins behind them.
ListPlace = tuple[Any, LinkId]
# The most links that are sorted by clicks: their ids are read, sorted and kept for the next pages.
MOST_RANKED = 100_000
_FIELDS = {LinkOrder.CREATED: "created_at", LinkOrder.MODIFIED: "modified_at", LinkOrder.NAME: "link_name"}
_DAYS = {LinkOrder.CLICKS_7: 7, LinkOrder.CLICKS_30: 30}


class TooManyToRank(ValueError):
    """More links match than are sorted by clicks."""


async def list_sorted(
    database: Database,
    org_id: OrgId,
    link_filter: LinkFilter,
    sort: LinkSort,
    *,
    now: datetime,
    after: ListPlace | None,
    limit: int,
) -> list[Link]:
    """At most `limit` links in an order that links themselves decide, behind the place `after`.

    A link that is created between two pages moves no other link, so no page repeats or misses one.
    """
    query = await _query_of(database, org_id, link_filter, now)
    if after:
        query = {"$and": [query, _behind(after, sort)]}
    cursor = database[links.NAME].find(query).sort(_order_of(sort)).limit(limit)
    return [links.from_document(document) async for document in cursor]


async def list_page(
    database: Database,
    org_id: OrgId,
    link_filter: LinkFilter,
    sort: LinkSort,
    *,
    now: datetime,
    skip: int,
    limit: int,
) -> list[Link]:
    """At most `limit` of the links that match, after `skip`, in an order that links themselves decide."""
    query = await _query_of(database, org_id, link_filter, now)
    cursor = database[links.NAME].find(query).sort(_order_of(sort))
    return [links.from_document(document) async for document in cursor.skip(skip).limit(limit)]


async def count_matching(database: Database, org_id: OrgId, link_filter: LinkFilter, now: datetime) -> int:
    """How many links match."""
    if link_filter == LinkFilter():
        return await links.count_links(database, org_id)
    query = await _query_of(database, org_id, link_filter, now)
    return int(await database[links.NAME].count_documents(query))


async def matching_ids(
    database: Database,
    org_id: OrgId,
    link_filter: LinkFilter,
    now: datetime,
    most: int,
    *,
    among: Sequence[LinkId] | None = None,
) -> list[LinkId]:
    """The ids of all links that match, in no order; with `among`, of those with one of these ids.

    Raises TooManyToRank if there are more than `most`.
    """
    query = await _query_of(database, org_id, link_filter, now)
    if among is not None:
        query = {"$and": [query, {"_id": {"$in": list(among)}}]}
    cursor = database[links.NAME].find(query, {"_id": 1}).limit(most + 1)
    ids = [LinkId(document["_id"]) for document in await cursor.to_list(None)]
    if len(ids) > most:
        raise TooManyToRank
    return ids


def sorted_by_values(
    ids: Iterable[LinkId], values: Mapping[LinkId, Any], *, is_descending: bool
) -> list[LinkId]:
    """These ids by their values, 0 for an id without one. Ids with equal values ascend."""
    return sorted(sorted(ids), key=lambda link_id: values.get(link_id, 0), reverse=is_descending)


def place_of(link: Link, order: LinkOrder) -> ListPlace:
    """The place of a link in this order."""
    return getattr(link, _FIELDS[order]), link.id


async def rank_by_clicks(
    database: Database,
    analytics: Analytics,
    org_id: OrgId,
    link_filter: LinkFilter,
    sort: LinkSort,
    *,
    now: datetime,
) -> list[LinkId]:
    """The ids of all links that match, sorted by their clicks of the last days. Raises TooManyToRank.

    Costs one look-up of the ids by the index of the organization's links, and one question.
    """
    ids = await matching_ids(database, org_id, link_filter, now, MOST_RANKED)
    clicks = await analytics.ask(org_id, ClicksOfLinks(now - timedelta(days=_DAYS[sort.order])))
    sorting = partial(sorted_by_values, ids, clicks, is_descending=sort.is_descending)
    return await LONG_WORK.run(org_id, sorting)


async def find_in_order(database: Database, org_id: OrgId, ids: Sequence[LinkId]) -> list[Link]:
    """The organization's links with these ids, in this order, without those that are gone."""
    links_by_id = await links.find_links(database, ids, org_id)
    return [links_by_id[link_id] for link_id in ids if link_id in links_by_id]


async def _query_of(database: Database, org_id: OrgId, link_filter: LinkFilter, now: datetime) -> Document:
    """The MongoDB query for the links that match a filter at this time: none if its tag is unknown."""
    query = _query_without_tag(org_id, link_filter, now)
    if link_filter.tag is not None:
        tag_ids = await find_tag_ids(database, None, org_id, [link_filter.tag])
        query |= {"tag_ids": {"$in": list(tag_ids.values())}}
    return {"$and": [query, links.reached(link_filter.reach)]} if link_filter.reach else query


def _query_without_tag(org_id: OrgId, link_filter: LinkFilter, now: datetime) -> Document:
    query: Document = {"org_id": org_id}
    if link_filter.state is not None or link_filter.external_id is None:
        query |= _in_state(link_filter.state, now)
    for name, value in (
        ("domain", link_filter.domain),
        ("utm.utm_campaign", link_filter.campaign),
        ("external_id", link_filter.external_id),
        ("created_by", link_filter.created_by),
        ("created_at", _between(link_filter.created_after, link_filter.created_before)),
        ("modified_at", _between(link_filter.modified_after, link_filter.modified_before)),
    ):
        if value is not None:
            query[name] = value
    return query if link_filter.search is None else query | links.with_text(org_id, link_filter.search)


def _in_state(state: LinkState | None, now: datetime) -> Document:
    """The query for links in this state (`Link.state_at`); without one, for all but archived ones."""
    expired: Document = {"$or": [{"limits.expires_at": {"$lte": now}}, {"limits.is_used_up": True}]}
    ahead: Document = {"limits.starts_at": {"$gt": now}}
    states: dict[LinkState | None, Document] = {
        None: {"archived_at": None},
        LinkState.ENABLED: {"is_enabled": True, "hold": None, "$nor": [expired, ahead]},
        LinkState.DISABLED: {"is_enabled": False, "archived_at": None, "hold": None},
        LinkState.ARCHIVED: links.ARCHIVED,
        LinkState.HELD: {"archived_at": None, **links.HELD},
        LinkState.EXPIRED: {"is_enabled": True, "hold": None, "$and": [expired]},
        LinkState.NOT_STARTED: {"is_enabled": True, "hold": None, **ahead, "$nor": [expired]},
    }
    return states[state]


def _order_of(sort: LinkSort) -> list[tuple[str, int]]:
    direction = -1 if sort.is_descending else 1
    return [(_FIELDS[sort.order], direction), ("_id", direction)]


def _between(after: datetime | None, before: datetime | None) -> Document | None:
    limits = {name: value for name, value in (("$gte", after), ("$lt", before)) if value is not None}
    return limits or None


def _behind(after: ListPlace, sort: LinkSort) -> Document:
    field, (value, link_id) = _FIELDS[sort.order], after
    more, at_least = ("$lt", "$lte") if sort.is_descending else ("$gt", "$gte")
    # The first condition, which the others imply, is a bound in the index.
    return {field: {at_least: value}, "$or": [{field: {more: value}}, {field: value, "_id": {more: link_id}}]}
