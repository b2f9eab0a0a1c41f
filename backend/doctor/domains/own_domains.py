"""Adds and removes domains for the people and servers of an organization, who have no command line."""

from __future__ import annotations

from contextlib import suppress

from backend.domain.domains.claims import ClaimedName, DomainClaim
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.ids import OrgId
from backend.storage.accounts.domain_setup.claims import claim_domain, withdraw_claim
from backend.storage.accounts.domain_setup.findings import forget_findings
from backend.storage.accounts.domains import DomainTaken, insert_domain, is_domain_of
from backend.storage.driver.deadlines import new_deadline
from backend.storage.links.writing.domain_removal import NotItsDomain, remove_domain
from backend.web.api_host import ApiHost
from backend.web.current import Resources

_FIELD = "name"


async def add_own_domain(resources: Resources, org_id: OrgId, text: object) -> tuple[str, DomainClaim | None]:
    """The name of a domain that the organization adds, and its claim; no claim if the domain is its own.

    A removal of its own domain is cancelled. Raises InvalidField.
    """
    name = ClaimedName().parse(_FIELD, text)
    if ApiHost(resources.settings.base_url).owns(name):
        raise InvalidField(_FIELD, "must not be the host name of this service's API and dashboard")
    if await is_domain_of(resources.database, name, org_id):
        with suppress(DomainTaken):  # it was removed, and is another's, since this very moment
            await insert_domain(resources.database, name, org_id, resources.clock())
            return name, None
    return name, await claim_domain(resources.database, org_id, name, resources.clock())


async def remove_own_domain(resources: Resources, org_id: OrgId, name: str) -> None:
    """Withdraw the organization's claim, or remove its domain, which takes about ten seconds.

    Raises ItemUnknown, and DomainInUse if the domain has links.
    """
    if await withdraw_claim(resources.database, org_id, name):
        await forget_findings(resources.database, org_id, name)
        if not await is_domain_of(resources.database, name, org_id):
            return
    try:
        with new_deadline():
            await remove_domain(resources.database, name, org_id)
    except NotItsDomain:
        raise ItemUnknown from None
