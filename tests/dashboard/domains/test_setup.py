"""How an organization adds a domain of its own, without a command line, and gives it up."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, timedelta

import httpx
import pytest

from backend.app import Service
from backend.dashboard.domains import setup
from backend.doctor.domains import domain_states
from backend.domain.domains.claims import KEPT
from backend.storage.accounts.domain_setup import claims
from backend.storage.accounts.domains import insert_domain, list_domains
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import create
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.dashboard.words import words_of
from tests.facts.organizations import TestOrganization
from tests.processes.dns_server import Zone, dns_server

TARGET = "links.host.example"


@pytest.fixture(scope="module")
def zone() -> Iterator[Zone]:
    """The DNS server of this file."""
    with dns_server() as zone:
        zone.enter(TARGET, "A", "127.0.0.1")
        yield zone


@pytest.fixture(autouse=True)
def service_asks(zone: Zone, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service asks that server, and link domains are to lead to TARGET."""
    resources = service.resources
    monkeypatch.setattr(resources.names, "servers", (zone.address,))
    monkeypatch.setattr(resources, "settings", replace(resources.settings, domain_target=TARGET))


@pytest.fixture
def name(organization: TestOrganization) -> str:
    """A name that no other test adds."""
    return organization.domain.replace(".localhost", ".example")


@pytest.fixture
async def rival(
    service: Service, database: Database, make_organization: OrganizationFactory
) -> AsyncIterator[Person]:
    """An owner of another organization."""
    async with browser(service) as client:
        person = Person(client, await make_user(database, (await make_organization()).id))
        await open_session(database, person)
        yield person


async def add(person: Person, name: str) -> httpx.Response:
    """The answer to the form that adds a domain."""
    return await person.send("/domains", "/domains", name=name)


async def check(person: Person, name: str) -> str:
    """The text of the page after its button was pressed."""
    answer = await person.send(f"/domains/{name}", f"/domains/{name}/check")
    assert answer.status_code == 303, answer.text
    return words_of(await person.get(answer.headers["Location"]))


def proof_on(page: str) -> str:
    """The value of the TXT record that a page shows."""
    match = re.search(r"waylink=[0-9a-f]{40}", page)
    assert match, page
    return match[0]


async def test_from_a_name_to_a_domain(person: Person, zone: Zone, name: str, database: Database) -> None:
    """The page says what to enter; once that is found, the domain is the organization's, and what is still
    missing is said."""
    added = await add(person, name)
    assert (added.status_code, added.headers["Location"]) == (303, f"/domains/{name}?notice=domain-claimed")
    page = words_of(await person.get(f"/domains/{name}"))
    assert f"Type TXT Name _waylink.{name}" in page
    assert f"only _waylink.go Value {proof_on(page)}" in page
    assert f"Type CNAME Name {name}" in page
    assert f"Value {TARGET}" in page
    assert f"There is no TXT record _waylink.{name} yet." in page
    zone.enter(f"_waylink.{name}", "TXT", "waylink=of-somebody-else")
    assert "has another value, waylink=of-somebody-else" in await check(person, name)
    assert (name, "A") not in zone.asked  # of a name that may be another's only the proof is asked for
    zone.enter(f"_waylink.{name}", "TXT", proof_on(page))
    proved = await check(person, name)
    assert "the domain is yours" in proved
    assert "DNS has no address for it." in proved
    assert f"In the DNS of {name[3:]}, enter for {name}: CNAME {TARGET}." in proved
    listed = words_of(await person.get("/domains"))
    assert f"{name} Unfinished DNS has no address for it." in listed
    zone.enter(name, "CNAME", TARGET)
    reached = await check(person, name)
    assert f"DNS leads to 127.0.0.1, by the CNAME record to {TARGET}." in reached
    assert "There is no TLS on port 443" in reached
    assert "Broken Checked on" in reached


async def test_the_first_who_proves_it_gets_it(
    person: Person, rival: Person, zone: Zone, name: str, organization: TestOrganization, database: Database
) -> None:
    """A claim keeps nobody out. Who comes second is told; nobody else is, nor can see or check it."""
    await add(rival, name)
    await add(person, name)
    theirs, mine = [proof_on((await of.get(f"/domains/{name}")).text) for of in (rival, person)]
    assert theirs != mine
    zone.enter(f"_waylink.{name}", "TXT", mine)
    assert "There is no TXT record" not in await check(rival, name)
    assert "the domain is yours" in await check(person, name)
    zone.enter(f"_waylink.{name}", "TXT", theirs)
    assert "Another organization of this service has shown that the domain is theirs." in await check(
        rival, name
    )
    assert name in await list_domains(database, organization.id)
    for path in (f"/domains/{organization.domain}", f"/domains/{organization.domain}/remove"):
        assert (await rival.get(path)).status_code == 404
    for path in ("check", "remove"):
        answer = await rival.client.post(f"/domains/{organization.domain}/{path}", data=await rival.token())
        assert answer.status_code == 404


@pytest.mark.parametrize(
    ("typed", "rule"),
    [("localhost", "must be a name in the DNS"), ("links.api.example", "API and dashboard"), ("", "must be")],
)
async def test_reserved_names(
    person: Person, service: Service, monkeypatch: pytest.MonkeyPatch, typed: str, rule: str
) -> None:
    """The host of the service itself, and what is no name in the DNS, is refused with the rule."""
    resources = service.resources
    own = replace(resources.settings, base_url="https://links.api.example")
    monkeypatch.setattr(resources, "settings", own)
    answer = await add(person, typed)
    assert answer.status_code == 422
    assert f"Add a domain {rule}" in words_of(answer) or rule in words_of(answer)


async def test_a_limit(person: Person, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Domains and claims together have one."""
    monkeypatch.setattr(claims, "MOST_DOMAINS", 2)
    assert (await add(person, f"a.{name}")).status_code == 303
    answer = await add(person, f"b.{name}")
    assert (answer.status_code, "one more than the 2 domains" in answer.text) == (422, True)


async def test_the_page_waits_for_nothing(
    person: Person, name: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While DNS does not answer, it shows what was found before, or that nothing was, and goes on looking."""
    asked, answered = asyncio.Event(), asyncio.Event()
    ask = service.resources.names.find_texts

    async def slow(name: str) -> tuple[str, ...]:
        asked.set()
        await answered.wait()
        return await ask(name)

    monkeypatch.setattr(service.resources.names, "find_texts", slow)
    monkeypatch.setattr(setup, "_PAGE_TIMEOUT", 0.01)
    await add(person, name)
    assert "Not checked yet. It is being checked just now" in words_of(await person.get(f"/domains/{name}"))
    await asked.wait()
    answered.set()
    assert "Checked on" in await check(person, name)
    assert "being checked just now" not in words_of(await person.get(f"/domains/{name}"))
    monkeypatch.setattr(domain_states, "FRESH", -domain_states.FRESH)
    answered.clear()
    assert "Checked on" in (old := words_of(await person.get(f"/domains/{name}")))
    assert "being checked just now" in old
    answered.set()


async def test_a_look_keeps_a_claim(person: Person, name: str, database: Database) -> None:
    """What somebody looks at is forgotten a month later, and not a month after it was added."""
    await add(person, name)
    begun = utc_now()
    claimed = {"domain": name}
    await database[claims.NAME].update_one(claimed, {"$set": {"expires_at": begun + timedelta(hours=1)}})
    await check(person, name)
    [claim] = await database[claims.NAME].find(claimed).to_list(None)
    assert begun + KEPT <= claim["expires_at"].replace(tzinfo=UTC)


async def test_a_claim_is_given_up(person: Person, name: str) -> None:
    """The page asks once more; then the name is forgotten."""
    await add(person, name)
    assert "nothing is lost" in words_of(await person.get(f"/domains/{name}/remove"))
    answer = await person.send(f"/domains/{name}/remove", f"/domains/{name}/remove")
    assert answer.headers["Location"] == "/domains?notice=claim-withdrawn"
    assert (await person.get(f"/domains/{name}")).status_code == 404


async def test_a_domain_is_removed(
    person: Person,
    name: str,
    organization: TestOrganization,
    client: httpx.AsyncClient,
    database: Database,
) -> None:
    """Not with links, which the page counts; without, once its name was typed again."""
    await create(client, organization)
    in_use = words_of(await person.get(f"/domains/{organization.domain}/remove"))
    assert f"{organization.domain} has 1 link, 0 of them archived." in in_use
    await insert_domain(database, name, organization.id, utc_now())
    path = f"/domains/{name}/remove"
    refused = await person.send(path, path, typed="go")
    assert (refused.status_code, "typed once more" in refused.text) == (422, True)
    removed = await person.send(path, path, typed=name)
    assert removed.headers["Location"] == "/domains?notice=domain-removed"
    assert await list_domains(database, organization.id) == [organization.domain]
