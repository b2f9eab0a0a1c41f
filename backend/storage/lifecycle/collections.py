"""The list of all collections, and those that are archived, personal or kept for a limited time."""

from __future__ import annotations

from dataclasses import dataclass

from pymongo import IndexModel

from backend.storage.accounts import (
    api_keys,
    apps,
    deleted_organizations,
    domains,
    limited,
    organizations,
    origins,
    rate_limits,
    refusals,
    restores,
)
from backend.storage.accounts.users import known_addresses, sessions, users
from backend.storage.apps import deferred_links, install_counts, installs
from backend.storage.clicks import address_keys, signing_keys
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import logs as click_logs
from backend.storage.clicks import summaries as click_summaries
from backend.storage.ledger import statements
from backend.storage.links import links, tags, taken_clicks, utm_templates
from backend.storage.links import purged as purged_links
from backend.storage.links import reports as link_reports
from backend.storage.links.destinations import broken as broken_destinations
from backend.storage.links.destinations import rounds as destination_rounds
from backend.storage.links.lists import orders as link_orders
from backend.storage.links.writing import idempotency
from backend.storage.outbox import entries, heads
from backend.storage.processes import heartbeats, leases
from backend.storage.sales import conversions, leads
from backend.storage.schema.collection import AgesFrom, Collection, Personal, ShardKey, Stage, StaysWhole
from backend.storage.schema.ownership import ByLink, Nobodys, Owned
from backend.storage.visitors import calls, counted_once, devices, events, identities, rejections
from backend.storage.webhooks import deliveries as webhook_deliveries
from backend.storage.webhooks import endpoints as webhooks


@dataclass(frozen=True, slots=True)
class Archived:
    """A collection that is part of an organization's archive."""

    name: str
    owned_by: Owned | ByLink
    stage: Stage


# In the order in which they are restored: what happened before the links, on which more happens; the
# organization itself and what lets anyone in at the very end.
COLLECTIONS: tuple[Collection, ...] = (
    counted_once.COLLECTION,
    calls.COLLECTION,
    idempotency.COLLECTION,
    devices.COLLECTION,
    identities.COLLECTION,
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
    refusals.COLLECTION,
    purged_links.COLLECTION,
    tags.COLLECTION,
    utm_templates.COLLECTION,
    links.COLLECTION,
    apps.COLLECTION,
    origins.COLLECTION,
    domains.COLLECTION,
    webhooks.COLLECTION,
    api_keys.COLLECTION,
    users.COLLECTION,
    organizations.COLLECTION,
    click_logs.COLLECTION,
    heartbeats.COLLECTION,
    rate_limits.COLLECTION,
    signing_keys.COLLECTION,
    restores.COLLECTION,
    sessions.COLLECTION,
    deferred_links.COLLECTION,
    address_keys.COLLECTION,
    known_addresses.COLLECTION,
    rejections.COLLECTION,
    limited.COLLECTION,
    link_orders.COLLECTION,
    deleted_organizations.COLLECTION,
    broken_destinations.COLLECTION,
    link_reports.COLLECTION,
    destination_rounds.COLLECTION,
    leases.COLLECTION,
    webhook_deliveries.COLLECTION,
)


def find_collection(name: str) -> Collection:
    """The collection with this name. There must be one."""
    return next(each for each in COLLECTIONS if each.name == name)


def declared_indexes() -> dict[str, list[IndexModel]]:
    """The indexes that each collection should have, by its name."""
    return {each.name: each.all_indexes for each in COLLECTIONS}


def declared_shard_keys() -> dict[str, ShardKey]:
    """By which fields a cluster shards collections, by their names; the others stay whole."""
    return {each.name: each.shard_key for each in COLLECTIONS if not isinstance(each.shard_key, StaysWhole)}


def archived_collections() -> dict[str, Archived]:
    """The collections in an organization's archive by name, in the order of a restore."""
    return {
        each.name: Archived(each.name, each.owned_by, each.archived)
        for each in COLLECTIONS
        if isinstance(each.archived, Stage) and not isinstance(each.owned_by, Nobodys)
    }


def personal_collections() -> list[tuple[Collection, Personal]]:
    """The collections with personal data, in the order in which they are erased."""
    found = [(each, each.personal) for each in COLLECTIONS if isinstance(each.personal, Personal)]
    return sorted(found, key=lambda pair: pair[1].erased_after)


def aging_collections() -> list[tuple[Collection, AgesFrom]]:
    """The collections to which an organization's retention time applies."""
    return [(each, each.retention) for each in COLLECTIONS if isinstance(each.retention, AgesFrom)]
