"""The list of link domains, and the page of each, by what was found about it."""

from __future__ import annotations

import httpx

from backend.domain.finding import Area, Finding, SetupStep, Severity
from backend.storage.accounts.domain_setup.findings import keep_findings
from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import create
from tests.dashboard.people import Person
from tests.dashboard.words import words_of
from tests.facts.organizations import TestOrganization


async def test_a_domain_that_dns_does_not_know(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Nothing of the domain works: the list says so, and its page why and what to do."""
    domain = f"go.{organization.id[:8]}.invalid"
    await insert_domain(database, domain, organization.id, utc_now())
    await person.send(f"/domains/{domain}", f"/domains/{domain}/check")
    shown = words_of(await person.get(f"/domains/{domain}"))
    assert "Unfinished Checked on" in shown
    assert "DNS has no address for it. Make a CNAME, A or AAAA record" in shown
    assert f"{domain} Unfinished DNS has no address for it." in words_of(await person.get("/domains"))


async def test_a_domain_that_works(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """What was found less than a minute ago is shown without looking again, and what is next."""
    domain = organization.domain
    steps = (SetupStep.DNS, SetupStep.CERTIFICATE, SetupStep.ANSWERS)
    findings = [
        Finding(Severity.OK, Area.DOMAINS, domain, f"The {step} is fine.", step=step) for step in steps
    ]
    await keep_findings(database, organization.id, domain, findings, utc_now())
    page = words_of(await person.get(f"/domains/{domain}"))
    assert "Certificate Done The certificate is fine." in page
    assert "Make the first link" in page
    listed = f"{domain} Works Visitors reach it."
    assert f"{listed} Make its first link. 0" in words_of(await person.get("/domains"))
    await create(client, organization)
    assert f"{listed} Nothing. 1" in words_of(await person.get("/domains"))


async def test_a_long_list(person: Person, organization: TestOrganization, database: Database) -> None:
    """More domains than are examined at once are all listed by what was found about them last."""
    names = [f"{number:02}.{organization.domain}" for number in range(11)]
    for name in names:
        await insert_domain(database, name, organization.id, utc_now())
        lost = Finding(Severity.ERROR, Area.DOMAINS, name, f"{name[:2]} is lost.", step=SetupStep.DNS)
        await keep_findings(database, organization.id, name, [lost], utc_now())
    shown = words_of(await person.get("/domains"))
    assert [name for name in names if f"{name} Unfinished {name[:2]} is lost." not in shown] == []
