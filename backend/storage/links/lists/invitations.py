"""Lists the links that apps made, with what came of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.ids import OrgId
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.listing import NEWEST_FIRST, LinkFilter
from backend.storage.analytics.brought_customers import Brought, BroughtCustomers
from backend.storage.analytics.clicks.click_windows import ClickOpens
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links.lists.listing import ListPlace, list_sorted


@dataclass(frozen=True, slots=True)
class ListedInvitation:
    """A link that an app made, its clicks and the opens among them, and whom it brought."""

    link: Link
    clicks: int
    opens: int
    brought: Brought


async def list_invitations(
    database: Database,
    analytics: Analytics,
    org_id: OrgId,
    *,
    now: datetime,
    after: ListPlace | None = None,
    limit: int,
) -> list[ListedInvitation]:
    """At most `limit` of the organization's links that apps made, the newest first, behind a place.

    Raises FactsNotReady and NoAnswer.
    """
    made_by_apps = LinkFilter(created_by=CreatedBy.SDK)
    links = await list_sorted(database, org_id, made_by_apps, NEWEST_FIRST, now=now, after=after, limit=limit)
    if not links:
        return []
    ids = [link.id for link in links]
    counts, brought = await analytics.ask_all(org_id, [ClickOpens(ids), BroughtCustomers(ids)])
    listed = []
    for link in links:
        clicks, opens = counts.get(link.id, (0, 0))
        listed.append(ListedInvitation(link, clicks, opens, brought.get(link.id, Brought())))
    return listed
