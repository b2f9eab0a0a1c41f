"""Changes the settings of link domains: where these lead is checked as destinations of links are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.domains.input import LEADING_FIELDS
from backend.domain.domains.settings import DomainSettings
from backend.domain.errors import FieldError, InvalidField, collect_errors, raise_all
from backend.domain.ids import OrgId
from backend.domain.links.destinations.policy import allowed_destination
from backend.domain.web.short_urls import host_of
from backend.storage.accounts.domain_settings import find_domain_settings, store_domain_settings
from backend.storage.accounts.domains import is_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies


async def change_domain_settings(
    database: Database,
    org_id: OrgId,
    domain: str,
    fields: Mapping[str, Any],
    policies: DestinationPolicies,
) -> DomainSettings:
    """Change these fields, parsed by DOMAIN_FIELDS. Returns all settings.

    Raises ItemUnknown, and InvalidField for an address that leads where it may not, unless it led there
    before.
    """
    await refuse_addresses(database, org_id, domain, fields, policies)
    return await store_domain_settings(database, org_id, domain, fields)


async def refuse_addresses(
    database: Database,
    org_id: OrgId,
    domain: str,
    fields: Mapping[str, Any],
    policies: DestinationPolicies,
) -> None:
    """Raise ItemUnknown, or InvalidField if an address of these fields leads where it may not."""
    stored = await find_domain_settings(database, org_id, domain)
    policy = (await policies.of([org_id]))[org_id]
    errors: list[FieldError] = []
    for name in LEADING_FIELDS:
        url = fields.get(name)
        if url and url != getattr(stored, name):
            with collect_errors(errors):
                allowed_destination(name, url, policy)
                await _refuse_short_url(database, name, url)
    for name in ("logo_url", "favicon_url"):
        url = (fields.get("brand") or {}).get(name)
        if url and policy.blocked.find(url):
            errors.append(
                InvalidField(f"brand.{name}", "must not be there: the operator blocks that address")
            )
    raise_all(errors)


async def _refuse_short_url(database: Database, name: str, url: str) -> None:
    """Raise InvalidField for any address on a link domain.

    What is there may change later, and then visitors would be led in a circle.
    """
    host = host_of(url)
    if host and await is_domain(database, host):
        raise InvalidField(name, f"must not lead to a link domain of this service, which {host} is")
