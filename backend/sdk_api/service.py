"""What the SDK API needs beyond the app's common resources."""

from __future__ import annotations

from collections.abc import Sequence

from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Result
from backend.domain.visitors.batches import Batch
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.origins import is_allowed, is_allowed_by_any
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.driver.lanes import owned_by_nobody
from backend.storage.sales.batches import store_batches
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.web.current import Resources


class SdkService:
    """Group commits for calls and rejections, which all requests share, and caches of allowed origins.

    `site_origins` answers for an origin and an organization, `known_origins` for any organization.
    """

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        database = resources.database

        async def store_rejections(requests: Sequence[RejectedCalls]) -> list[None]:
            await add_rejections(database, requests)
            return [None] * len(requests)

        self.commit: GroupWrites[Batch, list[Result]] = GroupWrites(
            lambda batches: store_batches(database, batches),
            owner_of=lambda batch: batch.org_id,
            size_of=lambda batch: len(batch.calls),
        )
        self.rejections: GroupWrites[RejectedCalls, None] = GroupWrites(
            store_rejections, owner_of=lambda rejected: rejected.org_id
        )
        self.site_origins: TimedCache[tuple[str, OrgId], bool] = TimedCache(
            lambda key: is_allowed(database, *key)
        )
        self.organizations: TimedCache[OrgId, Organization] = TimedCache(
            lambda org_id: get_organization(database, org_id)
        )

        async def is_known(origin: str) -> bool:
            with owned_by_nobody():  # whoever asks first, others wait for it too
                return await is_allowed_by_any(database, origin)

        self.known_origins: TimedCache[str, bool] = TimedCache(is_known)
