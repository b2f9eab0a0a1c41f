"""Links in a feed: a fact holds the link as it was, since links are changed afterwards.

It has everything that is stored of the link but the hash of its password: in the place of that, it says
whether there was one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from backend.domain.feed.changed_fields import changed_fields
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.domain.link_json import own_link_json
from backend.domain.links import Link
from backend.domain.short_urls import ShortUrlForm
from backend.domain.tags import tags_on
from backend.storage import links
from backend.storage.feed.runs import Run, Told
from backend.storage.mongo import ClientSession, Database
from backend.storage.tags import find_tags_of

_HASH = "password_hash"


def created_fact(link: Link, at: datetime) -> Fact:
    """The link was stored, as it is."""
    return _fact(EventType.LINK_CREATED, link, at, [])


def changed_fact(before: Link, after: Link, at: datetime) -> Fact:
    """The link was changed; into an archived one, it was archived."""
    is_archived = after.is_archived and not before.is_archived
    type_ = EventType.LINK_ARCHIVED if is_archived else EventType.LINK_CHANGED
    return _fact(type_, after, at, changed_fields(before, after, at))


def purged_fact(link: Link, at: datetime) -> Fact:
    """The link, as it was last, was deleted for good."""
    return _fact(EventType.LINK_ARCHIVED, link, at, []) | {"purged": True}


def _fact(type_: EventType, link: Link, at: datetime, changed: Sequence[str]) -> Fact:
    stored = links.to_document(link)
    fact: Fact = {"type": type_.value, "at": at, "link": stored, "changed": changed}
    if _HASH in stored["limits"]:
        stored["limits"] = {name: value for name, value in stored["limits"].items() if name != _HASH}
        fact["has_password"] = True
    return fact


async def load_links(
    form: ShortUrlForm, database: Database, session: ClientSession, _: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """What these runs say of links, each as it was, with the names that its tags have now."""
    told = [links.from_document(run.fact["link"]) for run in runs]
    tags = await find_tags_of(database, told, session)
    return [
        [_told(run.fact, link, [tag.name for tag in tags_on(link.tag_ids, tags)], form)]
        for run, link in zip(runs, told, strict=True)
    ]


def _told(fact: Fact, link: Link, tags: Iterable[str], form: ShortUrlForm) -> Told:
    at = fact["at"]
    shown = own_link_json(link, tags, form, at) | {"has_password": fact.get("has_password", False)}
    data: dict[str, Any] = {"link": shown, "changed": fact["changed"]}
    if fact["type"] == EventType.LINK_ARCHIVED:
        data["purged"] = fact.get("purged", False)
    return Told(at, data)
