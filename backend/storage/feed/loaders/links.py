"""Loads the links of a feed's events. A fact has the link as it was then, since links change.

The fact has every stored field of the link except the hash of its password, and instead says whether the link
had one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from backend.domain.feed.events import EventType
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.domain.links.json_form import own_link_json
from backend.domain.links.links import Link
from backend.domain.links.tags import tags_on
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.runs import EventContent, Run
from backend.storage.links import links
from backend.storage.links.tags import find_tags_of


async def load_links(
    form: ShortUrlForm, database: Database, session: ClientSession, _: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs: each link as it was then, with the current names of its tags."""
    links_then = [links.from_document(run.fact["link"]) for run in runs]
    tags = await find_tags_of(database, links_then, session)
    return [
        [_content(run.fact, link, [tag.name for tag in tags_on(link.tag_ids, tags)], form)]
        for run, link in zip(runs, links_then, strict=True)
    ]


def _content(fact: Fact, link: Link, tags: Iterable[str], form: ShortUrlForm) -> EventContent:
    at = fact["at"]
    shown = own_link_json(link, tags, form, at) | {"has_password": fact.get("has_password", False)}
    data: dict[str, Any] = {"link": shown, "changed": fact["changed"]}
    if fact["type"] == EventType.LINK_ARCHIVED:
        data["purged"] = fact.get("purged", False)
    return EventContent(at, data)
