"""The list of all collections, and those that are archived, personal or kept for a limited time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pymongo import IndexModel

from backend.domain.all_resources import RESOURCES
from backend.domain.ids import OrgId
from backend.storage.accounts import (
    announced_deletions,
    api_keys,
    apps,
    deleted_organizations,
    domains,
    organizations,
    origin_refusals,
    origins,
    rate_limited_requests,
    rate_limits,
    restores,
)
from backend.storage.accounts.directory import groups as provisioned_groups
from backend.storage.accounts.directory import identities as provider_identities
from backend.storage.accounts.directory import people as provisioned_people
from backend.storage.accounts.domain_setup import claims as domain_claims
from backend.storage.accounts.domain_setup import findings as domain_findings
from backend.storage.accounts.single_sign_on import refused_sign_ins
from backend.storage.accounts.single_sign_on import settings as single_sign_on
from backend.storage.accounts.users import invitations as member_invitations
from backend.storage.accounts.users import known_addresses, password_resets, sessions, users
from backend.storage.alerts import alerts
from backend.storage.alerts import rules as alert_rules
from backend.storage.apps import clipboard_texts, deferred_links, install_counts, installs
from backend.storage.archives import archives
from backend.storage.archives import pieces as archive_pieces
from backend.storage.clicks import address_keys, signing_keys
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import logs as click_logs
from backend.storage.clicks import summaries as click_summaries
from backend.storage.costs import costs
from backend.storage.driver.mongo import Document
from backend.storage.feed import put_backs
from backend.storage.ledger import statements
from backend.storage.links import links, orphans, qr_logos, tags, taken_clicks, utm_templates
from backend.storage.links import purged as purged_links
from backend.storage.links import reports as link_reports
from backend.storage.links.destinations import broken as broken_destinations
from backend.storage.links.destinations import rounds as destination_rounds
from backend.storage.links.lists import orders as link_orders
from backend.storage.links.writing import idempotency
from backend.storage.mail import mails
from backend.storage.outbox import entries, heads
from backend.storage.processes import failing_items, heartbeats, leases
from backend.storage.reports import recipients, reports
from backend.storage.resources.collection import collection_of
from backend.storage.sales import conversions, leads
from backend.storage.schema.collection import AgesFrom, Collection, NotSharded, Personal, ShardKey, Stage
from backend.storage.schema.ownership import ByLink, NotOwned, Owned
from backend.storage.visitors import calls, contacts, counted_once, devices, erasures, events, rejections
from backend.storage.webhooks import deliveries as webhook_deliveries
from backend.storage.webhooks import endpoints as webhooks


@dataclass(frozen=True, slots=True)
class ArchivedCollection:
    """A collection that is part of an organization's archive."""

    name: str
    owned_by: Owned | ByLink
    stage: Stage
    withheld: Mapping[str, object]

    def part_of(self, document: Document, org_id: OrgId, *, with_credentials: bool) -> Document:
        """What the organization's archive has of a document: credentials of people only where they are asked
        for, and nothing of another organization."""
        part = self.owned_by.part_of(document, org_id)
        if with_credentials:
            return part
        return {name: self.withheld.get(name, value) for name, value in part.items()}


# In the order in which they are restored. Records of what happened come before the links, since more happens
# on links once they are there. The organization itself and what lets anyone in come at the very end.
COLLECTIONS: tuple[Collection, ...] = (
    counted_once.COLLECTION,
    calls.COLLECTION,
    idempotency.COLLECTION,
    devices.COLLECTION,
    contacts.COLLECTION,
    events.COLLECTION,
    leads.COLLECTION,
    conversions.COLLECTION,
    installs.COLLECTION,
    click_blocks.COLLECTION,
    click_summaries.COLLECTION,
    heads.COLLECTION,
    entries.COLLECTION,
    statements.COLLECTION,
    install_counts.COLLECTION,
    taken_clicks.COLLECTION,
    origin_refusals.COLLECTION,
    purged_links.COLLECTION,
    alerts.COLLECTION,
    tags.COLLECTION,
    utm_templates.COLLECTION,
    qr_logos.COLLECTION,
    links.COLLECTION,
    apps.COLLECTION,
    origins.COLLECTION,
    domains.COLLECTION,
    domain_claims.COLLECTION,
    domain_findings.COLLECTION,
    webhooks.COLLECTION,
    reports.COLLECTION,
    recipients.COLLECTION,
    *map(collection_of, RESOURCES),
    alert_rules.COLLECTION,
    costs.COLLECTION,
    api_keys.COLLECTION,
    single_sign_on.COLLECTION,
    users.COLLECTION,
    organizations.COLLECTION,
    click_logs.COLLECTION,
    heartbeats.COLLECTION,
    rate_limits.COLLECTION,
    signing_keys.COLLECTION,
    restores.COLLECTION,
    sessions.COLLECTION,
    deferred_links.COLLECTION,
    clipboard_texts.COLLECTION,
    address_keys.COLLECTION,
    known_addresses.COLLECTION,
    password_resets.COLLECTION,
    provider_identities.COLLECTION,
    refused_sign_ins.COLLECTION,
    member_invitations.COLLECTION,
    provisioned_people.COLLECTION,
    provisioned_groups.COLLECTION,
    rejections.COLLECTION,
    rate_limited_requests.COLLECTION,
    link_orders.COLLECTION,
    deleted_organizations.COLLECTION,
    announced_deletions.COLLECTION,
    erasures.COLLECTION,
    broken_destinations.COLLECTION,
    link_reports.COLLECTION,
    orphans.COLLECTION,
    destination_rounds.COLLECTION,
    leases.COLLECTION,
    failing_items.COLLECTION,
    put_backs.COLLECTION,
    webhook_deliveries.COLLECTION,
    mails.COLLECTION,
    archives.COLLECTION,
    archive_pieces.COLLECTION,
)


def find_collection(name: str) -> Collection:
    """The collection with this name. There must be one."""
    return next(collection for collection in COLLECTIONS if collection.name == name)


def declared_indexes() -> dict[str, list[IndexModel]]:
    """The indexes that each collection should have, by its name."""
    return {collection.name: collection.all_indexes for collection in COLLECTIONS}


def declared_shard_keys() -> dict[str, ShardKey]:
    """The shard keys of the collections that a cluster shards, by the names of the collections."""
    keys = {collection.name: collection.shard_key for collection in COLLECTIONS}
    return {name: key for name, key in keys.items() if not isinstance(key, NotSharded)}


def archived_collections() -> dict[str, ArchivedCollection]:
    """The collections in an organization's archive by name, in the order of a restore."""
    return {
        collection.name: ArchivedCollection(
            collection.name, collection.owned_by, collection.archived, collection.withheld
        )
        for collection in COLLECTIONS
        if isinstance(collection.archived, Stage) and not isinstance(collection.owned_by, NotOwned)
    }


def personal_collections() -> list[tuple[Collection, Personal]]:
    """The collections with personal data."""
    pairs = [(collection, collection.personal) for collection in COLLECTIONS]
    return [(collection, fields) for collection, fields in pairs if isinstance(fields, Personal)]


def aging_collections() -> list[tuple[Collection, AgesFrom]]:
    """The collections to which an organization's retention time applies."""
    pairs = [(collection, collection.retention) for collection in COLLECTIONS]
    return [(collection, retention) for collection, retention in pairs if isinstance(retention, AgesFrom)]
