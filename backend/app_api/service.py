"""What the app API needs beyond the app's common resources."""

from __future__ import annotations

from collections.abc import Sequence

from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.domain.links.operations import LinkRequest, LinkResult
from backend.domain.sales.intake import Result
from backend.domain.visitors.batches import Batch
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.organizations import get_organization
from backend.storage.clicks.address_keys import visitor_key
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.links.writing.writes import Submission, write_links
from backend.storage.sales.batches import store_batches
from backend.web.current import Resources, of_app


class AppService:
    """The group commits for opens and for links, which all requests share, and caches of organizations and
    of the keys that tell the visitors of a day apart."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database
        self.visits: GroupWrites[Batch, list[Result]] = GroupWrites(
            lambda batches: store_batches(database, batches)
        )
        owners = DomainOwners(database)

        async def write(submissions: Sequence[Submission]) -> list[list[LinkResult]]:
            return await write_links(database, submissions, resources.destinations, owners)

        self.links: GroupWrites[Submission, list[LinkResult]] = GroupWrites(write)
        self.organizations: TimedCache[OrgId, Organization] = TimedCache(
            lambda org_id: get_organization(database, org_id)
        )
        self.visitor_keys: TimedCache[str, bytes] = TimedCache(lambda day: visitor_key(database, day))


async def store_link(request: LinkRequest) -> Link:
    """Carry out an operation on a link. Raises its error, or NotStored if the storage can't be reached."""
    (outcome,) = await of_app(AppService).links.add(Submission([request]))
    return outcome.require_link()
