"""Which link led to an app's open. Each way to find one is a function; the first that finds one decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from backend.current import resources
from backend.domain.installs import AppOpen
from backend.domain.links import Link
from backend.domain.short_urls import parse_short_url
from backend.storage.links import find_link, find_link_at


async def find_link_of_open(opened: AppOpen, org_id: str) -> Link | None:
    """The organization's link that led to this open, or None."""
    for find in _WAYS:
        if link := await find(opened, org_id):
            return link
    return None


async def _by_id(opened: AppOpen, org_id: str) -> Link | None:
    link_id = opened.named_link_id
    return await find_link(resources().database, link_id, org_id) if link_id else None


async def _by_short_url(opened: AppOpen, org_id: str) -> Link | None:
    place = parse_short_url(opened.short_url or "")
    return await find_link_at(resources().database, *place, org_id) if place else None


_WAYS: tuple[Callable[[AppOpen, str], Awaitable[Link | None]], ...] = (_by_id, _by_short_url)
