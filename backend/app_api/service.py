"""What the app API needs beyond the app's common resources."""

from __future__ import annotations

from backend.concurrency.group_commit import NotStored
from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.sales.intake import Result
from backend.domain.visitors.batches import Batch
from backend.json_api.api_error import storage_unreachable
from backend.storage.accounts.organizations import get_organization
from backend.storage.clicks.address_keys import visitor_key
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.sales.batches import store_batches
from backend.web.current import Resources, of_app


class AppService:
    """The group commit for opens, which all requests share, and caches of organizations and of the keys that
    tell the visitors of a day apart."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database
        self.commit: GroupWrites[Batch, list[Result]] = GroupWrites(
            lambda batches: store_batches(database, batches)
        )
        self.organizations: TimedCache[OrgId, Organization] = TimedCache(
            lambda org_id: get_organization(database, org_id)
        )
        self.visitor_keys: TimedCache[str, bytes] = TimedCache(lambda day: visitor_key(database, day))


async def store_visit(visit: Batch) -> None:
    """Store an open, once. Raises ApiError if the storage can't be reached."""
    try:
        await of_app(AppService).commit.add(visit)
    except NotStored:
        raise storage_unreachable() from None
