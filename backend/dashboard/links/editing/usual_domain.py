"""The domain that a form for new links begins with."""

from __future__ import annotations

from collections.abc import Sequence

from backend.dashboard.frame.blueprint import org_id
from backend.domain.links.links import CreatedBy
from backend.storage.links.links import list_links
from backend.web.current import resources


async def usual_domain(domains: Sequence[str]) -> str:
    """The one of these that a person's newest link is on, else anybody's; "" if there are no domains.

    Whoever makes links one after the other makes most of them on one domain.
    """
    if len(domains) > 1:
        for created_by in (CreatedBy.PERSON, None):
            newest = await list_links(resources().database, org_id(), skip=0, limit=1, created_by=created_by)
            if newest and newest[0].domain in domains:
                return newest[0].domain
    return domains[0] if domains else ""
