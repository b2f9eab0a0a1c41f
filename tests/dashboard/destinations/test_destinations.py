"""Where links may lead, and links that the operator stopped."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest

from backend.app import Service
from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.links.reports import LinkReport, ReportReason
from backend.domain.web.short_urls import host_of
from backend.storage.accounts.organizations import find_destination_rules
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import BrokenDestination, keep_results
from backend.storage.links.reports import add_report
from backend.storage.links.writing.holds import hold_link
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.processes.far_site import Site


async def test_rules_are_set(person: Person, organization: TestOrganization, database: Database) -> None:
    """A line for each address, in the form in which they are stored; what can't be read comes again."""
    answer = await person.send(
        "/destinations", "/destinations/rules", allowed="Shop.com\n*.a.example", refused=""
    )
    assert answer.headers["Location"] == "/destinations?notice=destinations-set"
    rules = DestinationRules(("shop.com", "*.a.example"), ())
    assert await find_destination_rules(database, organization.id) == rules
    assert "shop.com\n*.a.example</textarea>" in (await person.get("/destinations")).text
    wrong = await person.send(
        "/destinations", "/destinations/rules", allowed="b.example\n<b>", refused="c.example"
    )
    assert wrong.status_code == 422
    assert "(<b> is not)" in unescape(wrong.text)
    assert "c.example</textarea>" in wrong.text
    assert await find_destination_rules(database, organization.id) == rules


async def test_a_stopped_link(
    person: Person, link: Link, service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page and the list say so, and why; one whose destination is blocked is told on its page."""
    monkeypatch.setattr(
        service.resources.block_list, "current", AddressPatterns.of([host_of(link.destination_url) or ""])
    )
    assert "blocks where this link leads" in (await person.get(f"/links/{link.id}")).text
    await hold_link(database, link.id, "A <fake> shop", utc_now())
    page = (await person.get(f"/links/{link.id}")).text
    assert "The reason: “A &lt;fake&gt; shop”" in page
    assert '<span class="badge bad">Held</span>' in page
    assert '<span class="badge bad">Held</span>' in (await person.get("/links")).text


async def test_a_preview_is_filled_in(
    person: Person,
    link: Link,
    service: Service,
    database: Database,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By one button of the form; where the page can't be read, the form says why."""
    edit, fill = f"/links/{link.id}/edit", f"/links/{link.id}/preview"
    url = site.page("/", "<title>Kites</title><meta name=description content=Winds>")
    await database["links"].update_one({"_id": link.id}, {"$set": {"destination_url": url, "social": {}}})
    refused = await person.send(edit, fill)
    assert (refused.status_code, "it is not in the public internet" in unescape(refused.text)) == (422, True)
    monkeypatch.setattr(service.resources.pages._network, "_allows_private", True)
    answer = await person.send(edit, fill)
    assert answer.headers["Location"] == f"{edit}?notice=preview-filled"
    assert 'value="Kites"' in (await person.get(edit)).text
    assert (await person.send(edit, fill)).headers["Location"] == f"{edit}?notice=preview-empty"


async def test_broken_destinations(
    person: Person, link: Link, database: Database, make_organization: OrganizationFactory
) -> None:
    """They have a page, the overview and the list tell of them; another organization's are not there."""
    empty = (await person.get("/destinations/broken")).text
    assert "Nothing is known to be broken" in empty
    broken = BrokenDestination("destination_url", link.destination_url, "answers with status 404", utc_now())
    other = replace(link, id=LinkId("another"), path="another", org_id=(await make_organization()).id)
    await insert_links(database, [replace(other, link_name="Secret")])
    await keep_results(
        database, {broken_link.id: (broken_link.org_id, [broken]) for broken_link in (link, other)}, utc_now()
    )
    for path in ("/destinations/broken", "/"):
        page = (await person.get(path)).text
        assert "answers with status 404" in page
        assert link.link_name in page
        assert "Secret" not in page
    assert ">Broken</a>" in (await person.get("/links")).text


async def test_reported_links(
    person: Person, link: Link, database: Database, make_organization: OrganizationFactory
) -> None:
    """Each with what visitors said; those of another organization are not there."""
    assert "Nothing was reported" in (await person.get("/destinations/reports")).text
    other = replace(link, id=LinkId("reported"), path="reported", org_id=(await make_organization()).id)
    await insert_links(database, [replace(other, link_name="Secret")])
    for reported_link in (link, other):
        await add_report(database, reported_link, LinkReport(ReportReason.FRAUD, "A <fake> shop", utc_now()))
    page = (await person.get("/destinations/reports")).text
    assert "Fraud: “A &lt;fake&gt; shop”" in page
    assert link.link_name in page
    assert "Secret" not in page
