"""Finds the link that led to an app's open. Each way to find it is a function; they are tried in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from backend.domain.apps.installs import AppOpen, Match
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.web.short_urls import parse_short_url
from backend.storage.links.links import find_link, find_link_at
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


async def _by_id(opened: AppOpen, org_id: OrgId) -> Link | None:
    return await _find(opened.own_link_id, org_id)


async def _by_short_url(opened: AppOpen, org_id: OrgId) -> Link | None:
    place = parse_short_url(opened.short_url or "")
    return await find_link_at(resources().database, *place, org_id) if place else None


async def _by_referrer(opened: AppOpen, org_id: OrgId) -> Link | None:
    return await _find(opened.referred_link_id, org_id)


async def _find(link_id: LinkId | None, org_id: OrgId) -> Link | None:
    return await find_link(resources().database, link_id, org_id) if link_id else None


_WAYS: tuple[tuple[Match, Callable[[AppOpen, OrgId], Awaitable[Link | None]]], ...] = (
    (Match.LINK, _by_id),
    (Match.LINK, _by_short_url),
    (Match.INSTALL_REFERRER, _by_referrer),
)
