"""/domains: the organization's link domains, and whether visitors reach the service there."""

from __future__ import annotations

from dataclasses import dataclass

from quart import Response, abort

from backend.dashboard.accounts.domain_states import DomainStates
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.finding import Finding, Severity
from backend.storage.accounts.domains import is_domain_of, list_domains
from backend.storage.links.links import count_links_on
from backend.web.current import of_app, resources

# Seconds that the list, and the page of one domain, wait for examinations.
_LIST_TIMEOUT = 2.5
_PAGE_TIMEOUT = 15.0
# The list shows the state of so many domains. Each domain's own page shows it too.
_MOST_EXAMINED = 10


@dataclass(frozen=True, slots=True)
class DomainRow:
    """A domain in the list. `worst` is its worst finding; None if it was not examined yet."""

    name: str
    links: int
    worst: Finding | None


@dashboard.get("/domains")
@needs(Permission.SETTINGS_READ)
async def domains() -> Response:
    """All domains with their state and their number of links."""
    return await page("accounts/domains.html", later=_rows)


async def _rows() -> dict[str, list[DomainRow]]:
    database = resources().database
    names = await list_domains(database, org_id())
    states = await of_app(DomainStates).of(names[:_MOST_EXAMINED], _LIST_TIMEOUT)
    rows = [
        DomainRow(name, await count_links_on(database, name, org_id()), _worst(states.get(name, [])))
        for name in names
    ]
    return {"rows": rows}


@dashboard.get("/domains/<domain>")
@needs(Permission.SETTINGS_READ)
async def domains_one(domain: str) -> Response:
    """The findings about a domain, with what to do about them."""
    if not await is_domain_of(resources().database, domain, org_id()):
        abort(404)

    async def findings() -> dict[str, list[Finding] | None]:
        findings_by_domain = await of_app(DomainStates).of([domain], _PAGE_TIMEOUT)
        return {"findings": findings_by_domain.get(domain)}

    return await page("accounts/domain.html", later=findings, domain=domain)


def _worst(findings: list[Finding]) -> Finding | None:
    order = list(Severity)
    return max(findings, key=lambda finding: order.index(finding.severity), default=None)
