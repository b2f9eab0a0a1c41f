"""Finds the link that somebody has named in a field."""

from __future__ import annotations

from backend.dashboard.frame.blueprint import org_id
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.web.short_urls import parse_short_url
from backend.storage.links.links import find_link, find_link_at
from backend.web.current import resources


async def link_named(text: str) -> Link | None:
    """The organization's link with this short URL or id; None if there is none."""
    if is_uuid(text):
        return await find_link(resources().database, LinkId(text.lower()), org_id())
    place = parse_short_url(text if "://" in text else f"https://{text}")
    return await find_link_at(resources().database, *place, org_id()) if place else None
