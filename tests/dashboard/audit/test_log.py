"""/audit: the page of the audit log."""

from __future__ import annotations

from backend.domain.links.links import Link
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


async def test_who_changed_what(person: Person, organization: TestOrganization) -> None:
    """The page has who did it, what, and the values before and after; a filter leaves out the rest."""
    await person.send("/settings", "/settings/name", organization_name="Ropes & kites")
    await person.send("/tags", "/tags", name="Spring")
    page = (await person.get("/audit")).text
    assert person.email in page
    assert "<ins>Ropes &amp; kites</ins>" in page
    assert "<del>Acme</del>" in page
    assert "Tag created" in page
    tags = (await person.get("/audit?action=tag&from=2020-01-01")).text
    assert "Tag created" in tags
    assert "Organization changed" not in tags
    assert "No entries" in (await person.get("/audit?to=2020-01-01")).text


async def test_a_link_leads_to_its_entries(person: Person, link: Link) -> None:
    """The link's page leads to what was done to it, and an entry leads back."""
    of_link = await person.get(f"/links/{link.id}")
    assert f'href="/audit?target={link.id}"' in of_link.text
    await person.submit(of_link, f"/links/{link.id}/status", is_enabled="false")
    page = (await person.get(f"/audit?target={link.id}")).text
    assert "Link changed" in page
    assert f'href="/links/{link.id}"' in page


async def test_nonsense_in_the_address_chooses_nothing(person: Person) -> None:
    """Days at the ends of the calendar and places that no log has show a page, not a fault."""
    for question in ("to=9999-12-31", "from=0001-01-01", "before=99999999999999999999-0", "before=x"):
        assert (await person.get(f"/audit?{question}")).status_code == 200, question
