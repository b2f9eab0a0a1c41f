"""Link domains and their state."""

from __future__ import annotations

from html import unescape

import httpx

from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import ServiceStarter
from tests.dashboard.office import make_organization, make_user
from tests.dashboard.people import PASSWORD, FormsOf, Person
from tests.facts.organizations import TestOrganization


async def test_a_domain_that_dns_does_not_know(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Nothing of the domain works: the list says so, and its page why and what to do."""
    domain = f"go.{organization.id[:8]}.invalid"
    await insert_domain(database, domain, organization.id, utc_now())
    shown = unescape((await person.get(f"/domains/{domain}")).text)
    assert "Does not work" in shown
    assert "DNS has no address for it" in shown
    assert "Make a CNAME, A or AAAA record" in shown
    listed = (await person.get("/domains")).text.partition(f'href="/domains/{domain}"')[2]
    assert "DNS has no address for it" in listed


def test_a_domain_that_works(start_service: ServiceStarter) -> None:
    """Where the redirector answers on the domain its page says so, and the list counts its links."""
    with start_service(WAYLINK_LOCAL_SHORT_URLS="true") as running:
        org = make_organization(running, "Acme")
        running.command("domain", "add", "go.works.localhost", "--org", org)
        email = make_user(running, org)
        with httpx.Client(base_url=running.base_url, timeout=60) as client:
            fields = FormsOf(client.get("/sign-in").text).fields_of("/sign-in")
            client.post("/sign-in", data=fields | {"email": email, "password": PASSWORD})
            page = client.get("/domains/go.works.localhost")
            assert (page.status_code, "The service answers there." in page.text) == (200, True)
            assert "Visitors reach it." in client.get("/domains").text
