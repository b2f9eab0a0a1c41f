"""Takes a link domain from its organization, once it has no links."""

from __future__ import annotations

import asyncio

from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.storage.accounts import apps, domains
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.domain_setup.findings import forget_findings
from backend.storage.accounts.domains import DomainInUse, set_leaving
from backend.storage.driver.mongo import TRANSACTION_SECONDS, ClientSession, Database, in_transaction
from backend.storage.links.links import count_archived_on, count_links_on

# After this time every process knows that the domain takes no links, and pending writes of links have ended:
# a write ends within TRANSACTION_SECONDS after it read the domain's owner.
SETTLED_SECONDS = DomainOwners.LIFETIME + TRANSACTION_SECONDS + 0.5


class NotItsDomain(OperatorError):
    """The organization has no such domain."""

    def __init__(self, domain: str, org_id: OrgId) -> None:
        super().__init__(f"The domain {domain} does not belong to the organization {org_id}.")


async def remove_domain(database: Database, domain: str, org_id: OrgId) -> None:
    """Remove the organization's domain and its apps; then any organization may add it.

    First the domain stops taking links, and its links are counted again once all processes know that. So an
    organization that adds it later finds no link of another organization there. Raises DomainInUse if it has
    links, archived ones included, and NotItsDomain. After an interruption, run it again, or add the domain
    again to keep it.
    """
    if not await domains.is_domain_of(database, domain, org_id):
        raise NotItsDomain(domain, org_id)
    await refuse_in_use(database, domain, org_id)
    await set_leaving(database, domain, org_id, is_leaving=True)
    await settle()

    async def work(session: ClientSession) -> None:
        # The transaction also sees links that a majority of the members does not have yet.
        await refuse_in_use(database, domain, org_id, session)
        leaving = {"_id": domain, "org_id": org_id, "is_leaving": True}
        removed = await database[domains.NAME].delete_one(leaving, session=session)
        if removed.deleted_count:  # else it was added again meanwhile
            await database[apps.NAME].delete_one({"_id": domain, "org_id": org_id}, session=session)

    try:
        await in_transaction(database, work)
    except DomainInUse:
        await set_leaving(database, domain, org_id, is_leaving=False)
        raise
    await forget_findings(database, org_id, domain)


async def settle() -> None:
    """Wait until no process writes links any more that has not seen that a domain takes none."""
    await asyncio.sleep(SETTLED_SECONDS)


async def refuse_in_use(
    database: Database, domain: str, org_id: OrgId, session: ClientSession | None = None
) -> None:
    """Raise DomainInUse if the domain has links."""
    if links := await count_links_on(database, domain, org_id, session):
        raise DomainInUse(domain, links, await count_archived_on(database, domain, org_id))
