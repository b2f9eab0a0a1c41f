"""Checks link domains: whether visitors and phones reach the service there."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from backend.doctor.domains.association_files import GOOGLE, examine_association_files
from backend.doctor.domains.association_fill import examine_fill
from backend.doctor.domains.certificates import examine_certificate
from backend.doctor.domains.dns import answers_elsewhere, dns_silent, find_target, judge_records, plan_of
from backend.doctor.domains.site import HTTPS_PORT, SiteVisitor, site_of
from backend.domain.accounts.apps import Apps
from backend.domain.domains.dns import DnsTarget, FoundAddresses, Leads, where_it_leads
from backend.domain.finding import Area, Finding, Findings, SetupStep, Severity
from backend.domain.web.client import Platform
from backend.settings import Settings
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.mongo import Database
from backend.storage.links.path_rules import opens_any_app
from backend.web.api_host import ApiHost
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.name_servers import DnsSilent, NameServers
from backend.web_client.page_reader import Unreadable

_findings = Findings(Area.DOMAINS, SetupStep.ANSWERS)
_apps = Findings(Area.DOMAINS, SetupStep.APPS)
# The domain leads where its certificate and its answers can be looked at.
_REACHABLE = frozenset({Leads.HERE, Leads.PARTLY_HERE, Leads.ELSEWHERE, Leads.UNTOLD})


@dataclass(frozen=True, slots=True)
class DomainExamination:
    """Examines link domains. `names` are the DNS servers that are asked, `port` is the one of https."""

    database: Database
    settings: Settings
    names: NameServers
    now: datetime
    port: int = HTTPS_PORT

    async def examine(self, domain: str) -> AsyncIterator[Finding]:
        """Findings on the domain's DNS name, certificate and answers.

        If the name or the certificate has an error, later checks are left out.
        """
        if ApiHost(self.settings.base_url).owns(domain):
            yield _findings.error(
                domain,
                "It is the host of WAYLINK_BASE_URL too, so its links are never followed.",
                "Give the API a host name of its own.",
            )
            return
        apps = await find_apps(self.database, domain)
        async for finding in examine_fill(self.database, domain, apps):
            yield finding
        local = site_of(domain, self.settings.short_url_form.localhost_port)
        tls = await asyncio.to_thread(ssl.create_default_context)
        if local.is_local:
            visitor = SiteVisitor(local, GuardedNetwork(allows_loopback=True), tls)
            async for finding in self._examine_answers(visitor, apps, await _reach(visitor)):
                yield finding
        else:
            async for finding in self._examine_from_dns(domain, apps, tls):
                yield finding

    async def _examine_from_dns(self, domain: str, apps: Apps, tls: ssl.SSLContext) -> AsyncIterator[Finding]:
        try:
            target = await find_target(self.names, self.settings)
            found = await self.names.find_addresses(domain)
        except DnsSilent as error:
            yield dns_silent(domain, error)
            return
        allows_private = self.settings.private_destinations
        leads = where_it_leads(found, target, allows_private=allows_private)
        records = judge_records(await plan_of(domain, target), found, leads)
        if leads not in _REACHABLE:
            yield records
            return
        visitor = self._visitor(domain, found, target, tls)
        certificate, reach = await asyncio.gather(
            examine_certificate(domain, found.addresses, self.now, tls, self.port), _reach(visitor)
        )
        if leads is Leads.ELSEWHERE:
            if reach.severity is Severity.ERROR:
                yield records
                return
            records = answers_elsewhere(domain, found)
        yield records
        yield certificate
        if certificate.severity is not Severity.ERROR:
            async for finding in self._examine_answers(visitor, apps, reach):
                yield finding

    def _visitor(
        self, domain: str, found: FoundAddresses, target: DnsTarget, tls: ssl.SSLContext
    ) -> SiteVisitor:
        """Reaches the domain at the addresses that were found, and asks DNS nothing again."""

        async def known(host: str, port: int) -> list[str]:
            return list(found.addresses)

        network = GuardedNetwork(
            allows_private=self.settings.private_destinations,
            own_addresses=target.addresses,
            resolve=known,
        )
        return SiteVisitor(site_of(domain, None, self.port), network, tls)

    async def _examine_answers(
        self, visitor: SiteVisitor, apps: Apps, reach: Finding
    ) -> AsyncIterator[Finding]:
        domain = visitor.site.domain
        yield reach
        for finding in await examine_association_files(visitor, apps):
            yield finding
        if not apps.ios and await opens_any_app(self.database, domain, Platform.IOS):
            yield _apps.warning(
                domain,
                "It has links that open in an iOS app, and no iOS app: they open in the browser.",
                "waylink app set … --ios-team-id ID --ios-bundle-id ID",
            )


async def _reach(visitor: SiteVisitor) -> Finding:
    """Whether the redirector answers on the domain. Google's association file shows it, even as a 404."""
    domain, address = visitor.site.domain, visitor.site.address
    try:
        answer = await visitor.get(GOOGLE)
    except Unreadable as error:
        return _findings.error(
            domain,
            f"The service does not answer at {address}: it {error}.",
            "Forward the domain to the service, with its Host header.",
        )
    if answer.status == 200 or b"No app is set for this domain." in answer.content:
        return _findings.ok(domain, "The service answers there.")
    return _findings.error(
        domain,
        f"What answers at {address} does not treat it as a link domain ({answer.status}).",
        "Forward the domain to the service, and pass the Host header on unchanged.",
    )
