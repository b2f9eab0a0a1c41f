"""/domains: the organization's link domains and claims, how each stands, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quart import Response

from backend.dashboard.domains.words import DOMAIN_STATES, NEXT
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.doctor.domains.domain_states import DomainStates
from backend.doctor.domains.own_domains import add_own_domain
from backend.domain.accounts.apps import Apps
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.setup import DomainFacts, SetupReport, report_setup
from backend.domain.errors import InvalidField
from backend.storage.accounts.apps import list_apps
from backend.storage.accounts.domain_setup.claims import list_claims
from backend.storage.accounts.domains import list_domains
from backend.storage.links.links import count_links_on
from backend.web.current import of_app, resources

# Seconds that the list waits for examinations.
_TIMEOUT = 2.5


@dataclass(frozen=True, slots=True)
class DomainRow:
    """A domain in the list: how it stands, why, and what to do next."""

    name: str
    report: SetupReport
    links: int

    @property
    def reason(self) -> str:
        """Why it stands so; "" where nobody has looked yet."""
        step = self.report.next
        found = step.findings if step else ()
        return found[0].message if found else ""

    @property
    def next(self) -> str:
        """What to do next; "" for nothing."""
        step = self.report.next
        if step is None:
            return ""
        return (step.findings[0].advice if step.findings else "") or NEXT.get(step.step, "")


@dashboard.get("/domains")
@needs(Permission.SETTINGS_READ)
async def domains() -> Response:
    """All domains and claims."""
    return await _page()


@dashboard.post("/domains")
@needs(Permission.SETTINGS_WRITE)
@once
async def domains_add() -> Response:
    """Claim a domain. Its page says what to enter, so that it becomes the organization's."""
    text = field("name")
    try:
        name, claim = await add_own_domain(resources(), org_id(), text)
    except InvalidField as error:
        return await _page(text, error.rule)
    notice = "domain-claimed" if claim else "domain-is-yours"
    return redirect_with_notice("domains_one", notice, domain=name)


async def _page(text: str = "", problem: str = "") -> Response:
    status = 422 if problem else 200
    return await page(
        "domains/domains.html", status, later=_rows, text=text, problem=problem, states=DOMAIN_STATES
    )


async def _rows() -> dict[str, Any]:
    database = resources().database
    own = await list_domains(database, org_id())
    claimed = [claim.domain for claim in await list_claims(database, org_id()) if claim.domain not in own]
    apps = await list_apps(database, org_id())
    names = sorted([*own, *claimed])
    kept = await of_app(DomainStates).of(org_id(), names, _TIMEOUT)
    rows = []
    for name in names:
        links = await count_links_on(database, name, org_id()) if name in own else 0
        facts = DomainFacts(name in own, apps.get(name, Apps()) != Apps(), links)
        findings = kept[name].findings if name in kept else ()
        rows.append(DomainRow(name, report_setup(findings, facts), links))
    return {"rows": rows}
