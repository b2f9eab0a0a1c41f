"""/domains/<domain>: how far a domain has come, step by step, and what is to be entered where."""

from __future__ import annotations

from typing import Any

from quart import Response

from backend.dashboard.domains.words import DOMAIN_STATES, STEP_STATES, STEPS
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.doctor.domains.domain_setup import find_own_claim, setup_of
from backend.doctor.domains.domain_states import DomainStates
from backend.domain.accounts.permissions import Permission
from backend.domain.domains.claims import KEPT
from backend.storage.accounts.domains import DomainTaken
from backend.web.current import of_app, resources

# Seconds that the page waits for an examination, if what was found before is older than a minute; and the
# button, which somebody pressed to have one.
_PAGE_TIMEOUT = 2.5
_LOOK_TIMEOUT = 20.0


@dashboard.get("/domains/<domain>")
@needs(Permission.SETTINGS_READ)
async def domains_one(domain: str) -> Response:
    """All steps, as they were found last."""
    claim = await find_own_claim(resources().database, org_id(), domain)

    async def setup() -> dict[str, Any]:
        states = of_app(DomainStates)
        kept = (await states.of(org_id(), [domain], _PAGE_TIMEOUT)).get(domain)
        found = await setup_of(resources().database, states, org_id(), domain, claim=claim, kept=kept)
        return {"setup": found, "is_fresh": kept is not None and states.is_fresh(kept)}

    return await page(
        "domains/domain.html",
        later=setup,
        domain=domain,
        claim=claim,
        kept_days=KEPT.days,
        states=DOMAIN_STATES,
        step_states=STEP_STATES,
        titles=STEPS,
    )


@dashboard.post("/domains/<domain>/check")
@needs(Permission.SETTINGS_WRITE)
async def domains_check(domain: str) -> Response:
    """Look now. A claim whose record is found becomes the organization's domain."""
    claim = await find_own_claim(resources().database, org_id(), domain)
    try:
        found = await of_app(DomainStates).look(org_id(), domain, _LOOK_TIMEOUT)
    except DomainTaken:
        return redirect_with_notice("domains_one", "domain-taken", domain=domain)
    if found is None:
        return redirect_with_notice("domains_one", "domain-takes-long", domain=domain)
    is_new = claim is not None and await find_own_claim(resources().database, org_id(), domain) is None
    return redirect_with_notice("domains_one", "domain-proved" if is_new else "domain-checked", domain=domain)
