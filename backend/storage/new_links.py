"""Stores new links of an organization: checks them first, and finds a free path."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime

from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.domain.link_input import GENERATED_PATH_LENGTH, PATH_ALPHABET, NewLink
from backend.domain.links import CreatedBy, Link
from backend.storage.domains import is_domain_of
from backend.storage.links import PathTaken, insert_link
from backend.storage.loops import Resolve, looping_field
from backend.storage.mongo import Database

# 55^6 paths: with ten million links on a domain, one try in 2,700 hits a path that is in use.
_GENERATED_TRIES = 10
Insert = Callable[[Link], Awaitable[None]]


class DomainNotConfigured(ValueError):
    """The organization does not own the domain."""


async def store_new_link(
    database: Database,
    new: NewLink,
    *,
    org_id: OrgId,
    created_by: CreatedBy,
    now: datetime,
    insert: Insert | None = None,
) -> Link:
    """Store a new link and return it.

    Without a selected path, a path is generated that is unique on the domain. `insert` stores the link;
    `insert_link` by default. Raises DomainNotConfigured, InvalidField if the link would lead back to itself,
    and PathTaken if the selected path is in use.
    """
    await check_new_link(database, new, org_id, now)

    async def attempt(path: str) -> Link:
        link = new.to_link(
            path, link_id=LinkId(str(uuid.uuid4())), org_id=org_id, created_by=created_by, now=now
        )
        await (insert(link) if insert else insert_link(database, link))
        return link

    return await attempt(new.selected_path) if new.selected_path else await _at_free_path(attempt)


async def check_new_link(
    database: Database, new: NewLink, org_id: OrgId, now: datetime, resolve: Resolve | None = None
) -> None:
    """Check what `store_new_link` checks before it stores. Raises DomainNotConfigured and InvalidField.

    It does not check whether the selected path is free: the unique index decides that when the link is
    stored. `resolve` finds the links that it leads to; by default in the database.
    """
    if not await is_domain_of(database, new.domain, org_id):
        raise DomainNotConfigured(new.domain)
    if new.selected_path:
        link = new.to_link(
            new.selected_path, link_id=LinkId(""), org_id=org_id, created_by=CreatedBy.REST, now=now
        )
        await refuse_loop(database, link, resolve)


async def refuse_loop(database: Database, link: Link, resolve: Resolve | None = None) -> None:
    """Raise InvalidField if the link, stored or not, would lead visitors back to its own short URL."""
    if name := await looping_field(database, link, resolve):
        raise InvalidField(name, "must not lead back to the link's own short URL")


async def _at_free_path(attempt: Callable[[str], Awaitable[Link]]) -> Link:
    for _ in range(_GENERATED_TRIES):
        try:
            return await attempt(_generated_path())
        except PathTaken:
            continue
    raise RuntimeError("no generated path was free")


def _generated_path() -> str:
    return "".join(secrets.choice(PATH_ALPHABET) for _ in range(GENERATED_PATH_LENGTH))
