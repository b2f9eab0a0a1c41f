"""Finds the link that led to an app's open. Each way to find it is a function; they are tried in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from backend.domain.apps.installs import AppOpen, Match
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.forwarding import as_followed
from backend.domain.links.links import Link
from backend.domain.links.loose_paths import loose_place
from backend.domain.links.path_prefixes import prefixes_in, rest_below
from backend.domain.web.short_urls import parse_short_url, query_of
from backend.storage.links.links import find_link, find_link_at
from backend.storage.links.meant_paths import find_meant_place
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class MatchedLink:
    """The link that led to an open (None if there is none), and how it was found."""

    link: Link | None = None
    match: Match = Match.NONE


async def find_named_link(opened: AppOpen, org_id: OrgId) -> MatchedLink:
    """The organization's link that the open itself names, or that its install referrer names."""
    for match, find in _WAYS:
        if link := await find(opened, org_id):
            return MatchedLink(link, match)
    return MatchedLink()


def as_opened(link: Link, opened: AppOpen) -> Link:
    """The link with its addresses filled in from the short URL that was opened, if the app names it."""
    short_url = opened.short_url or ""
    rest = rest_below(prefixes_in(short_url)[1], link.path) if link.forwards_path else ""
    query = query_of(short_url)
    return as_followed(link, rest, query if rest else loose_place(short_url)[1].with_query(query))


async def _by_id(opened: AppOpen, org_id: OrgId) -> Link | None:
    return await _find(opened.own_link_id, org_id)


async def _by_short_url(opened: AppOpen, org_id: OrgId) -> Link | None:
    database, short_url = resources().database, opened.short_url or ""
    place = parse_short_url(short_url)
    if place and (link := await find_link_at(database, *place, org_id)):
        return link
    meant = await find_meant_place(database, short_url)
    return await find_link_at(database, *meant, org_id) if meant else None


async def _by_referrer(opened: AppOpen, org_id: OrgId) -> Link | None:
    return await _find(opened.referred_link_id, org_id)


async def _find(link_id: LinkId | None, org_id: OrgId) -> Link | None:
    return await find_link(resources().database, link_id, org_id) if link_id else None


_WAYS: tuple[tuple[Match, Callable[[AppOpen, OrgId], Awaitable[Link | None]]], ...] = (
    (Match.LINK, _by_id),
    (Match.LINK, _by_short_url),
    (Match.INSTALL_REFERRER, _by_referrer),
)
