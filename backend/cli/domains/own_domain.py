"""The domain that a command names."""

from __future__ import annotations

import click

from backend.domain.ids import OrgId
from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.storage.accounts import domains, organizations
from backend.storage.driver.mongo import Database


def host(text: str) -> str:
    """The host name in its normal form. Raises BadParameter."""
    try:
        return normalize_host(text)
    except InvalidHostName as error:
        raise click.BadParameter(f"{text!r} {error}", param_hint="DOMAIN") from None


async def check_own_domain(database: Database, name: str, org_id: OrgId) -> None:
    """Raise UsageError unless the organization, which must exist, owns the domain."""
    await organizations.get_organization(database, org_id)
    if not await domains.is_domain_of(database, name, org_id):
        raise click.UsageError(f"The domain {name} does not belong to the organization {org_id}.")
