"""What is found about a link domain, by a DNS server and a site with a certificate of its own."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from backend.doctor.domains.association_files import APPLE, GOOGLE
from backend.doctor.domains.domain_examination import DomainExamination
from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.finding import Finding, SetupStep, Severity
from backend.settings import Settings
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from backend.web_client import name_servers
from backend.web_client.name_servers import NameServers
from tests.facts.organizations import TestOrganization
from tests.processes.authority import Authority
from tests.processes.dns_server import Zone, dns_server
from tests.processes.far_site import Site, far_site

TARGET = "links.host.example"
HERE = "127.0.0.1"  # where the service is in these tests: its own address is reached, though it is private
ELSEWHERE = "127.0.0.2"
JSON = "application/json"


@pytest.fixture(scope="module")
def zone() -> Iterator[Zone]:
    """The DNS server of this file."""
    with dns_server() as zone:
        zone.enter(TARGET, "A", HERE)
        yield zone


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who gives certificates."""
    return Authority(tmp_path_factory.mktemp("authority"))


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain of an organization, and the service's place in the network, which answers for it by https."""

    name: str
    zone: Zone
    site: Site
    examination: DomainExamination
    organization: TestOrganization

    async def findings(self) -> list[Finding]:
        """All that is found about it."""
        return [finding async for finding in self.examination.examine(self.name)]

    async def by_step(self) -> dict[SetupStep, tuple[Severity, str]]:
        """What is found about each step."""
        return {
            finding.step: (finding.severity, finding.message)
            for finding in await self.findings()
            if finding.step
        }


@pytest.fixture
async def domain(
    zone: Zone,
    authority: Authority,
    settings: Settings,
    database: Database,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Domain]:
    """A domain without a record, and a site that answers for it as the service does."""
    name = organization.domain.replace(".localhost", ".example")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.root))
    here = replace(settings, domain_target=TARGET)
    with far_site(authority.server_context(name)) as site:
        site.page(f"/{GOOGLE}", "No app is set for this domain.", 404)
        examination = DomainExamination(database, here, NameServers([zone.address]), utc_now(), site.port)
        yield Domain(name, zone, site, examination, organization)


async def test_a_domain_that_works(domain: Domain) -> None:
    """By a CNAME record: DNS, certificate and answer are fine, each with what was found."""
    domain.zone.enter(domain.name, "CNAME", TARGET)
    found = await domain.by_step()
    assert found[SetupStep.DNS] == (Severity.OK, f"DNS leads to {HERE}, by the CNAME record to {TARGET}.")
    assert found[SetupStep.CERTIFICATE][1].startswith("Its certificate is trusted until 20")
    assert found[SetupStep.ANSWERS] == (Severity.OK, "The service answers there.")
    assert {severity for severity, _ in found.values()} == {Severity.OK}


@pytest.mark.parametrize(
    ("kind", "value", "message", "advice"),
    [
        ("", "", "DNS has no address for it.", f"enter for DOMAIN: CNAME {TARGET}."),
        ("TXT", "hello", "DNS has no address for it.", "CNAME"),
        (
            "CNAME",
            "gone.example",
            "Its CNAME record leads to gone.example, which has no address, or a private one.",
            "CNAME",
        ),
        ("A", "10.0.0.7", "10.0.0.7, which is not in the public internet", "CNAME"),
    ],
)
async def test_records_that_lead_nowhere(
    domain: Domain, kind: str, value: str, message: str, advice: str
) -> None:
    """Nothing is connected to: DNS is all that is said, with the record to enter."""
    if kind:
        domain.zone.enter(domain.name, kind, value)
    [finding] = await domain.findings()
    assert (finding.severity, finding.step) == (Severity.ERROR, SetupStep.DNS)
    assert message in finding.message
    assert advice.replace("DOMAIN", domain.name) in finding.advice
    assert domain.site.asked == []


async def test_a_name_of_the_operators_network(domain: Domain) -> None:
    """A CNAME record to it tells neither its address nor that there is such a name."""
    told = set()
    for number, address in enumerate(("10.0.0.8", "1.1.1.1", "")):
        inside = f"inside-{number}.example"
        domain.zone.enter(inside, "CNAME", f"deeper-{inside}")
        for value in filter(None, {address, address and "10.0.0.8"}):
            domain.zone.enter(f"deeper-{inside}", "A", value)
        domain.zone.remove(domain.name)
        domain.zone.enter(domain.name, "CNAME", inside)
        [finding] = await domain.findings()
        told.add(finding.message.replace(inside, "NAME"))
    assert told == {"Its CNAME record leads to NAME, which has no address, or a private one."}


async def test_a_domain_with_a_zone_of_its_own(domain: Domain) -> None:
    """It can't have a CNAME record, so the addresses are to be entered."""
    apex = domain.name.removeprefix("go.")
    [finding] = [finding async for finding in domain.examination.examine(apex)]
    assert finding.advice == f"In the DNS of {apex}, enter for {apex}: A {HERE}."


async def test_a_record_that_was_left(domain: Domain) -> None:
    """Of two addresses one is the service's: the other is to be removed."""
    domain.zone.enter(domain.name, "A", HERE)
    domain.zone.enter(domain.name, "A", "1.1.1.1")
    [finding] = [finding for finding in await domain.findings() if finding.step is SetupStep.DNS]
    assert finding.severity is Severity.ERROR
    assert finding.advice == "Remove A 1.1.1.1: some visitors end there."


async def test_a_domain_that_leads_elsewhere(domain: Domain, authority: Authority) -> None:
    """It is fine where a proxy passes visitors on, and an error that names both records where none does."""
    domain.zone.enter(domain.name, "A", ELSEWHERE)
    outside = replace(domain.examination.settings, private_destinations=True)
    examination = replace(domain.examination, settings=outside)
    [finding] = [finding async for finding in examination.examine(domain.name)]
    assert finding.severity is Severity.ERROR
    assert (
        finding.message == f"DNS leads to {ELSEWHERE}, where the service does not answer. It does at {HERE}."
    )
    assert finding.advice.endswith(f"enter for {domain.name}: CNAME {TARGET}, instead of A {ELSEWHERE}.")
    domain.zone.enter("moved.example", "A", "127.0.0.3")
    moved = replace(outside, domain_target="moved.example")
    domain.zone.remove(domain.name)
    domain.zone.enter(domain.name, "A", HERE)
    findings = [finding async for finding in replace(examination, settings=moved).examine(domain.name)]
    assert findings[0].message.endswith("content delivery network that passes visitors on.")
    assert {finding.severity for finding in findings} == {Severity.OK}


async def test_dns_that_can_not_be_asked(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that fail, and silent ones, are said to be so, and nothing of the domain is called wrong."""
    domain.zone.failing.add(domain.name)
    [finding] = await domain.findings()
    assert (finding.severity, finding.step) == (Severity.WARNING, SetupStep.DNS)
    assert "the servers of this name fail, or refuse" in finding.message
    monkeypatch.setattr(name_servers, "SECONDS", 0.2)
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as silent:
        silent.bind(("127.0.0.1", 0))
        names = NameServers([f"127.0.0.1:{silent.getsockname()[1]}"])
        [finding] = [
            finding async for finding in replace(domain.examination, names=names).examine(domain.name)
        ]
    assert "DNS did not answer within" in finding.message


async def test_another_certificate(domain: Domain, authority: Authority) -> None:
    """One of another host is refused, and then the files are not looked at."""
    domain.zone.enter(domain.name, "CNAME", TARGET)
    with far_site(authority.server_context("www.shop.example")) as wrong:
        examination = replace(domain.examination, port=wrong.port)
        findings = [finding async for finding in examination.examine(domain.name)]
    assert [finding.step for finding in findings] == [SetupStep.DNS, SetupStep.CERTIFICATE]
    assert "not valid for" in findings[1].message
    assert "The proxy before the service gets the certificate" in findings[1].advice


async def test_a_site_that_is_not_the_service(domain: Domain) -> None:
    """Something else that answers on the domain, with a good certificate, is an error."""
    domain.zone.enter(domain.name, "CNAME", TARGET)
    domain.site.page(f"/{GOOGLE}", "Welcome to nginx!")
    domain.site.page(f"/{GOOGLE}", "Welcome to nginx!", 404)
    severity, message = (await domain.by_step())[SetupStep.ANSWERS]
    assert severity is Severity.ERROR
    assert message.endswith("does not treat it as a link domain (404).")


async def test_association_files_by_https(domain: Domain, database: Database) -> None:
    """Read as Apple reads them: a good one names its app, and a redirect is not followed."""
    domain.zone.enter(domain.name, "CNAME", TARGET)
    apps = Apps(IosApp("A1B2C3D4E5", "com.shop.app"), None)
    await insert_domain(database, domain.name, domain.organization.id, utc_now())
    await set_apps(database, domain.name, domain.organization.id, apps)
    domain.site.page(
        f"/{APPLE}", '{"applinks":{"details":[{"appIDs":["A1B2C3D4E5.com.shop.app"]}]}}', Content_Type=JSON
    )
    messages = [finding.message for finding in await domain.findings() if finding.step is SetupStep.APPS]
    assert messages[-1] == "Phones can read it (65 bytes), and it names the app A1B2C3D4E5.com.shop.app."
    domain.site.page(f"/{APPLE}", "", 301, Location="http://127.0.0.1:1/")
    [wrong] = [finding for finding in await domain.findings() if finding.severity is Severity.ERROR]
    assert "redirected to http://127.0.0.1:1/, which phones do not follow" in wrong.message
