"""Runs all checks, one area after another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from backend.doctor.background import examine_background, examined, readable
from backend.doctor.columns import examine_columns, examine_process
from backend.doctor.configuration import SECONDS, examine_base_url, examine_settings
from backend.doctor.domains.dns import examine_target
from backend.doctor.domains.domain_examination import DomainExamination
from backend.doctor.feed import examine_feed
from backend.doctor.keys import examine_keys
from backend.doctor.ledger import examine_ledger
from backend.doctor.mail import examine_mail_server, examine_mails
from backend.doctor.proxies import examine_proxies
from backend.doctor.storage import examine_storage, unreachable
from backend.doctor.webhooks import examine_webhooks
from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Finding
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.organizations import get_organization, organization_items
from backend.storage.database import Indexes, MongoDBUnreachable, open_database
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.embedded.mongod_process import MongoDBNotFound
from backend.system.clock import Clock
from backend.web_client.name_servers import NameServers


@dataclass(frozen=True, slots=True)
class Examination:
    """Examines an installation. With `org_id`, only that organization's domains, keys and webhooks."""

    settings: Settings
    environment: Mapping[str, str]
    clock: Clock
    org_id: OrgId | None

    async def run(self) -> AsyncIterator[Finding]:
        """All findings, each as soon as it is found. Changes nothing. Raises UnknownOrganization."""
        async with httpx.AsyncClient(timeout=SECONDS, follow_redirects=False) as client:
            for finding in examine_settings(self.settings, self.environment):
                yield finding
            yield await examine_base_url(client, self.settings)
            yield await examine_mail_server(self.settings)
            async for finding in examine_process(self.settings):
                yield finding
            for finding in examine_columns(self.settings, self.org_id, self.clock()):
                yield finding
            try:
                async with open_database(self.settings, Indexes.LEAVE) as database:
                    async for finding in self._with_database(database, client):
                        yield finding
            except (MongoDBUnreachable, MongoDBNotFound, StorageError) as error:
                yield unreachable(str(error))

    async def _with_database(self, database: Database, client: httpx.AsyncClient) -> AsyncIterator[Finding]:
        async for finding in examine_storage(database, self.settings, self.clock):
            yield finding
        async for finding in examine_background(database, self.org_id):
            yield finding
        organizations, unreadable_organizations = await self._organizations(database)
        for finding in unreadable_organizations:
            yield finding
        names = NameServers(self.settings.dns_servers)
        if target := await examine_target(names, self.settings):
            yield target
        domains = DomainExamination(database, self.settings, names, self.clock())
        for organization in organizations:
            of_domains = _examine_domains(database, domains, organization)
            async for finding in examined(organization.name, of_domains):
                yield finding
        if proxies := await examine_proxies(client, self.settings):
            yield proxies
        for organization in organizations:
            async for finding in examined(organization.name, self._examine_keys(database, organization)):
                yield finding

    async def _examine_keys(self, database: Database, organization: Organization) -> AsyncIterator[Finding]:
        async for finding in examine_keys(database, organization, self.clock()):
            yield finding
        async for finding in examine_webhooks(database, organization):
            yield finding
        async for finding in examine_feed(database, organization):
            yield finding
        if mails := await examine_mails(database, organization, self.clock()):
            yield mails
        yield await examine_ledger(database, organization, self.clock())

    async def _organizations(self, database: Database) -> tuple[list[Organization], list[Finding]]:
        if self.org_id is not None:
            return [await get_organization(database, self.org_id)], []
        return readable(await organization_items(database))


async def _examine_domains(
    database: Database, domains: DomainExamination, organization: Organization
) -> AsyncIterator[Finding]:
    for domain in await list_domains(database, organization.id):
        async for finding in domains.examine(domain):
            yield finding
