"""The organization of the demo's history, which is created and deleted together with the history."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import datetime

from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import deletion_items
from backend.storage.accounts.organizations import (
    UnknownOrganization,
    create_organization,
    find_organization_by_name,
    set_event_properties,
    set_subscription,
)
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.organization_deletion import delete_organization
from demo_site.demo_organization import SUBSCRIBED_UNTIL
from demo_site.demo_user import let_see

NAME = "Windrow (made-up history)"


async def history_organization(database: Database, now: datetime) -> OrgId:
    """The id of the organization, which is created if needed. The demo's user sees it first."""
    organization = await find_organization_by_name(database, NAME)
    if organization is None:
        await delete_history(database, now)  # a deletion that was interrupted still has its domains
        organization = await create_organization(database, NAME, now)
        await set_subscription(database, organization.id, SUBSCRIBED_UNTIL)
        await set_event_properties(database, organization.id, ["kite", "shape", "newsletter"])
    await let_see(database, organization.id)
    return organization.id


async def delete_history(database: Database, now: datetime) -> Counter[str]:
    """Delete the organization with its history, or go on with a deletion that was interrupted.

    Returns how many documents of each collection that were. What is stored meanwhile, such as clicks, is
    deleted by a running service.
    """
    organization = await find_organization_by_name(database, NAME)
    deletions = [item.read() for item in await deletion_items(database)]
    org_ids = [organization.id] if organization else [deletion.org_id for deletion in deletions]
    deleted: Counter[str] = Counter()
    for org_id in org_ids:
        with suppress(UnknownOrganization):  # a running service has ended the deletion since
            deleted += await delete_organization(database, org_id, now)
    return deleted
