"""Link domains and their state."""

from __future__ import annotations

import subprocess
from html import unescape
from pathlib import Path

import httpx

from backend.app import utc_now
from backend.storage.domains import insert_domain
from backend.storage.mongo import Database
from tests.dashboard.people import FormsOf, Person
from tests.organizations import TestOrganization
from tests.service_process import WAYLINK, service_process

PASSWORD = "correct horse battery"


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


def test_a_domain_that_works(tmp_path: Path) -> None:
    """Where the redirector answers on the domain its page says so, and the list counts its links."""
    with service_process(tmp_path, WAYLINK_LOCAL_SHORT_URLS="true") as running:
        org = running.command("organization", "create", "Acme")["id"]
        running.command("domain", "add", "go.works.localhost", "--org", org)
        subprocess.run(
            [*WAYLINK, "user", "create", "a@example.com", "--org", org, "--password-stdin"],
            input=PASSWORD, text=True, check=True, capture_output=True, env=running.environment,
        )  # fmt: skip
        with httpx.Client(base_url=running.base_url) as client:
            fields = FormsOf(client.get("/sign-in").text).fields_of("/sign-in")
            client.post("/sign-in", data=fields | {"email": "a@example.com", "password": PASSWORD})
            page = client.get("/domains/go.works.localhost")
            assert (page.status_code, "The service answers there." in page.text) == (200, True)
            assert "Visitors reach it." in client.get("/domains").text
