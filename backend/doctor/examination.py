"""Runs all checks, one area after another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx

from backend.doctor.background import examine_background, examined, readable
from backend.doctor.columns import examine_columns, examine_figures, examine_process
from backend.doctor.configuration import SECONDS, examine_base_url, examine_settings
from backend.doctor.domains.dns import examine_target
from backend.doctor.domains.domain_examination import DomainExamination
from backend.doctor.feed import examine_feed
from backend.doctor.ledger import examine_ledger
from backend.doctor.mail import examine_mail_server, examine_mails
from backend.doctor.proxies import examine_proxies
from backend.doctor.storage import examine_storage, unreachable
from backend.doctor.webhooks import examine_webhooks
from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.accounts.api_keys import list_api_keys
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.organizations import get_organization, organization_items
from backend.storage.accounts.origin_refusals import OriginRefusal, list_origin_refusals
from backend.storage.accounts.origins import list_origins
from backend.storage.database import Indexes, MongoDBUnreachable, open_database
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.embedded.mongod_process import MongoDBNotFound
from backend.system.clock import Clock
from backend.web_client.name_servers import NameServers

_findings = Findings(Area.KEYS)
# A key that was not used for so long is probably no longer needed.
_UNUSED_AFTER = timedelta(days=90)
_RECENT = timedelta(days=1)
_MOST_NAMED_ORIGINS = 3


async def examine_keys(
    database: Database, organization: Organization, now: datetime
) -> AsyncIterator[Finding]:
    """Findings on an organization's keys and allowed origins."""
    keys = await list_api_keys(database, organization.id)
    origins = await list_origins(database, organization.id)
    active = [key for key in keys if key.revoked_at is None]
    subject = f"{organization.name} ({organization.id})"
    for finding in _examine_rest(subject, active):
        yield finding
    for finding in _examine_web(subject, active, origins):
        yield finding
    for key in active:
        if _is_forgotten(key, now):
            yield _about_forgotten(subject, key)
    if len(active) < len(keys):
        yield _findings.info(subject, f"{len(keys) - len(active)} of its {len(keys)} keys are revoked.")
    for finding in _examine_origins(subject, await list_origin_refusals(database, organization.id), now):
        yield finding


def _examine_rest(subject: str, active: Sequence[ApiKey]) -> Iterator[Finding]:
    count = sum(key.kind is KeyKind.REST for key in active)
    if count:
        yield _findings.ok(subject, f"REST keys in force: {count}.")
    else:
        yield _findings.warning(
            subject,
            "No REST key is in force: servers can't make links or read analytics.",
            "waylink key create --kind rest --org ID",
        )


def _examine_web(subject: str, active: Sequence[ApiKey], origins: Sequence[str]) -> Iterator[Finding]:
    has_key = any(key.kind is KeyKind.WEB for key in active)
    if has_key and not origins:
        yield _findings.error(
            subject,
            "It has a key for browsers and no allowed origin: every browser is refused.",
            "waylink origin add https://YOUR-SITE --org ID",
        )
    if origins and not has_key:
        yield _findings.warning(
            subject,
            "It has allowed origins and no key for browsers in force.",
            "waylink key create --org ID --kind web",
        )


def _is_forgotten(key: ApiKey, now: datetime) -> bool:
    return now - (key.last_used_at or key.created_at) > _UNUSED_AFTER


def _about_forgotten(subject: str, key: ApiKey) -> Finding:
    used = f"last used on {key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never seen in use"
    return _findings.warning(
        subject,
        f"The key {key.hint}, created on {key.created_at:%Y-%m-%d}, was {used}.",
        f"If nobody needs it: waylink key revoke {key.id}",
    )


def _examine_origins(subject: str, refusals: Sequence[OriginRefusal], now: datetime) -> Iterator[Finding]:
    origins = sorted({refusal.origin or "(none)" for refusal in refusals if now - refusal.at < _RECENT})
    if origins:
        others = " and others" if len(origins) > _MOST_NAMED_ORIGINS else ""
        named = ", ".join(origins[:_MOST_NAMED_ORIGINS]) + others
        yield _findings.warning(
            subject,
            f"Browsers on these origins were refused within a day: {named}.",
            "If they are yours, allow them: waylink origin add ORIGIN --org ID",
        )


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
        for organization in organizations[:1]:  # the process that answers is the same for all
            yield await examine_figures(database, self.settings, organization)
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
