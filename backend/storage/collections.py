"""Every collection, and which of its documents are an organization's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pymongo import IndexModel

from backend.storage import (
    address_keys,
    api_keys,
    apps,
    calls,
    click_counts,
    click_logs,
    clicks,
    conversions,
    counted_once,
    deferred_links,
    devices,
    domains,
    events,
    idempotency,
    identities,
    install_counts,
    installs,
    leads,
    links,
    organizations,
    origins,
    rate_limits,
    refusals,
    restores,
    sessions,
    users,
)
from backend.storage.mongo import Document


class Collection(Protocol):
    """What the file of each collection says of it."""

    NAME: str
    INDEXES: list[IndexModel]


@dataclass(frozen=True, slots=True)
class Archived:
    """A collection of which every organization has its part.

    `condition` selects an organization's documents, or those of some of its links where `by_link` is true.
    """

    collection: Collection
    condition: Callable[[Any], Document]
    by_link: bool = False

    @property
    def name(self) -> str:
        """The collection's name."""
        return self.collection.NAME


def _named_by_id(org_id: str) -> Document:
    return {"_id": org_id}


def _by_field(org_id: str) -> Document:
    return {"org_id": org_id}


def _by_membership(org_id: str) -> Document:
    return {"org_ids": org_id}


def _by_prefix(org_id: str) -> Document:
    return {"_id": {"$regex": f"^{re.escape(org_id)}/"}}


def _of_links(link_ids: list[str]) -> Document:
    return {"link_id": {"$in": link_ids}}


def _by_link_prefix(link_ids: list[str]) -> Document:
    return {"_id": {"$in": [re.compile(f"^{re.escape(link_id)}/") for link_id in link_ids]}}


# In the order in which they are restored: what was counted before the links that go on counting, and the
# organization itself and what lets anyone in at the very end.
HISTORY = (
    Archived(counted_once, _by_field),
    Archived(calls, _by_prefix),
    Archived(idempotency, _by_prefix),
    Archived(devices, _by_prefix),
    Archived(identities, _by_prefix),
    Archived(events, _by_prefix),
    Archived(leads, _by_prefix),
    Archived(conversions, _by_prefix),
    Archived(installs, _by_prefix),
    Archived(clicks, _of_links, by_link=True),
    Archived(click_counts, _by_link_prefix, by_link=True),
    Archived(install_counts, _by_link_prefix, by_link=True),
    Archived(refusals, _named_by_id),
    Archived(links, _by_field),
)
SETUP = (
    Archived(apps, _by_field),
    Archived(origins, _by_field),
    Archived(domains, _by_field),
    Archived(api_keys, _by_field),
    Archived(users, _by_membership),
    Archived(organizations, _named_by_id),
)
ARCHIVED = (*HISTORY, *SETUP)
# What is no organization's: where this service's own logs, limits and restores stand. And what is forgotten
# within a day: who is signed in, links that wait for an app, and the keys of their hashed addresses.
NOT_ARCHIVED: tuple[Collection, ...] = (
    click_logs,
    rate_limits,
    restores,
    sessions,
    deferred_links,
    address_keys,
)
COLLECTIONS = (*(each.collection for each in ARCHIVED), *NOT_ARCHIVED)


def is_owned(archived: Archived, document: Document, org_id: str) -> bool:
    """Whether a document that stands in an archive of the organization may be stored as its own."""
    own_id = str(document.get("_id"))
    if archived.condition is _named_by_id:
        return own_id == org_id
    if archived.condition is _by_membership:
        return bool(document["org_ids"] == [org_id])
    if archived.condition is _by_prefix and not own_id.startswith(f"{org_id}/"):
        return False
    return bool(document.get("org_id", org_id) == org_id)


def part_of(archived: Archived, document: Document, org_id: str) -> Document:
    """What of a document is the organization's: a user's other organizations are not."""
    return document | {"org_ids": [org_id]} if archived.condition is _by_membership else document
