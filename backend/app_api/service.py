"""What the app API needs beyond the app's common resources."""

from __future__ import annotations

from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Result
from backend.domain.visitors.batches import Batch
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.organizations import get_organization
from backend.storage.clicks.address_keys import visitor_key
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.driver.lanes import owned_by_nobody
from backend.storage.links.writing.grouped_writes import LinkWrites
from backend.storage.sales.batches import store_batches
from backend.web.current import Resources


class AppService:
    """The group commits for opens and for links, which all requests share, and caches of organizations and
    of the keys that tell the visitors of a day apart."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database
        self.visits: GroupWrites[Batch, list[Result]] = GroupWrites(
            lambda batches: store_batches(database, batches), owner_of=lambda batch: batch.org_id
        )
        self.links = LinkWrites(database, resources.destinations, DomainOwners(database))
        self.organizations: TimedCache[OrgId, Organization] = TimedCache(
            lambda org_id: get_organization(database, org_id)
        )

        async def key_of_day(day: str) -> bytes:
            with owned_by_nobody():  # whoever asks first, others wait for it too
                return await visitor_key(database, day)

        self.visitor_keys: TimedCache[str, bytes] = TimedCache(key_of_day)
