"""Finds the link that a page's address names."""

from __future__ import annotations

from quart import abort

from backend.dashboard.frame.blueprint import org_id
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.links.links import find_link
from backend.web.current import resources


async def own_link(link_id: LinkId) -> Link:
    """The organization's link with this id. Answers 404 if it has none, even if another organization does."""
    link = await find_link(resources().database, link_id, org_id())
    if link is None:
        abort(404)
    return link


def short_url_of(link: Link) -> str:
    """The link's short URL."""
    return resources().short_url_form.write(link.domain, link.path)
