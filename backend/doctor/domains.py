"""Checks link domains: whether visitors and phones reach the service there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import httpx

from backend.doctor.association_files import GOOGLE, examine_association_files
from backend.doctor.association_fill import examine_fill
from backend.doctor.certificates import examine_certificate
from backend.doctor.finding import Area, Finding, Findings, Severity
from backend.doctor.site import Site, site_of
from backend.domain.accounts.apps import Apps
from backend.domain.web.client import Platform
from backend.settings import Settings
from backend.storage.accounts.apps import find_apps
from backend.storage.driver.mongo import Database
from backend.storage.links.path_rules import opens_any_app
from backend.web.api_host import ApiHost

_findings = Findings(Area.DOMAINS)


@dataclass(frozen=True, slots=True)
class DomainExamination:
    """Examines link domains. `client` must not follow redirects."""

    database: Database
    settings: Settings
    client: httpx.AsyncClient
    now: datetime

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
        site = site_of(domain, self.settings.short_url_form.localhost_port)
        if not site.is_local:
            yield (name := await _resolve(domain))
            if name.severity is Severity.ERROR:
                return
            yield (certificate := await examine_certificate(domain, self.now))
            if certificate.severity is Severity.ERROR:
                return
        async for finding in self._examine_answers(site, apps):
            yield finding

    async def _examine_answers(self, site: Site, apps: Apps) -> AsyncIterator[Finding]:
        domain = site.domain
        yield await self._reach(site)
        for finding in await examine_association_files(self.client, site, apps):
            yield finding
        if not apps.ios and await opens_any_app(self.database, domain, Platform.IOS):
            yield _findings.warning(
                domain,
                "It has links that open in an iOS app, and no iOS app: they open in the browser.",
                "waylink app set … --ios-team-id ID --ios-bundle-id ID",
            )

    async def _reach(self, site: Site) -> Finding:
        """Whether the redirector answers on the domain. Google's association file shows it, even as a 404."""
        domain, address = site.domain, site.address
        try:
            answer = await site.get(self.client, GOOGLE)
        except httpx.HTTPError as error:
            return _findings.error(
                domain,
                f"Nothing answers at {address} ({type(error).__name__}: {error}).",
                "Forward the domain to the service, with its Host header.",
            )
        if answer.status_code == 200 or "No app is set for this domain." in answer.text:
            return _findings.ok(domain, "The service answers there.")
        return _findings.error(
            domain,
            f"What answers at {address} does not treat it as a link domain ({answer.status_code}).",
            "Forward the domain to the service, and pass the Host header on unchanged.",
        )


async def _resolve(domain: str) -> Finding:
    try:
        address_infos = await asyncio.get_running_loop().getaddrinfo(domain, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return _findings.error(
            domain,
            f"DNS has no address for it ({error}).",
            "Make a CNAME, A or AAAA record that leads to the service or to the proxy before it.",
        )
    addresses = sorted({str(info[4][0]) for info in address_infos})
    return _findings.ok(domain, f"DNS leads to {', '.join(addresses)}.")
