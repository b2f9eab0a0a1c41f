"""The setup of one domain or claim, with all that a page or an answer says about it."""

from __future__ import annotations

from backend.doctor.domains.domain_states import DomainStates
from backend.domain.accounts.apps import Apps
from backend.domain.domains.claims import DomainClaim
from backend.domain.domains.setup import DomainFacts, DomainSetup, report_setup
from backend.domain.ids import OrgId
from backend.storage.accounts.apps import find_apps
from backend.storage.accounts.domain_setup.claims import find_claim
from backend.storage.accounts.domain_setup.findings import KeptFindings
from backend.storage.accounts.domains import is_domain_of
from backend.storage.driver.mongo import Database
from backend.storage.links.links import count_links_on


async def find_own_claim(database: Database, org_id: OrgId, name: str) -> DomainClaim | None:
    """The organization's claim of this name; None if the domain is its own. Raises ItemUnknown."""
    if await is_domain_of(database, name, org_id):
        return None
    return await find_claim(database, org_id, name)


async def setup_of(
    database: Database,
    states: DomainStates,
    org_id: OrgId,
    name: str,
    *,
    claim: DomainClaim | None,
    kept: KeptFindings | None,
) -> DomainSetup:
    """The setup of the organization's domain, or of its claim, by what was found about it."""
    apps = Apps() if claim else await find_apps(database, name)
    links = 0 if claim else await count_links_on(database, name, org_id)
    facts = DomainFacts(claim is None, bool(apps.ios or apps.android), links)
    report = report_setup(kept.findings if kept else (), facts)
    return DomainSetup(name, claim, kept.at if kept else None, report, await states.plan(name), links)
