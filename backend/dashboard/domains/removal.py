"""/domains/<domain>/remove: gives up a domain, after saying what that means."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.doctor.domains.domain_setup import find_own_claim
from backend.doctor.domains.own_domains import remove_own_domain
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.claims import DomainClaim
from backend.storage.accounts.domains import DomainInUse
from backend.storage.links.links import count_archived_on, count_links_on
from backend.web.current import resources

_NOT_TYPED = "must be the name of the domain, typed once more"


@dashboard.get("/domains/<domain>/remove")
@needs(Permission.SETTINGS_WRITE)
async def domains_ask_removal(domain: str) -> Response:
    """What becomes of the domain and its links, and the question."""
    return await _page(domain, await find_own_claim(resources().database, org_id(), domain))


@dashboard.post("/domains/<domain>/remove")
@needs(Permission.SETTINGS_WRITE)
async def domains_remove(domain: str) -> Response:
    """Remove the domain, which takes about ten seconds, or withdraw the claim."""
    claim = await find_own_claim(resources().database, org_id(), domain)
    if claim is None and field("typed").lower() != domain:
        return await _page(domain, claim, _NOT_TYPED)
    try:
        await remove_own_domain(resources(), org_id(), domain)
    except DomainInUse:
        return await _page(domain, claim, "has links: they are to be deleted for good first")
    return redirect_with_notice("domains", "claim-withdrawn" if claim else "domain-removed")


async def _page(domain: str, claim: DomainClaim | None, problem: str = "") -> Response:
    database = resources().database
    return await page(
        "domains/removal.html",
        422 if problem else 200,
        domain=domain,
        claim=claim,
        links=0 if claim else await count_links_on(database, domain, org_id()),
        archived=0 if claim else await count_archived_on(database, domain, org_id()),
        typed=field("typed"),
        problem=problem,
    )
