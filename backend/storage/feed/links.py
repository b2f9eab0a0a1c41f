"""Links in a feed: a fact holds the link as it was, since links are changed afterwards.

It has everything that is stored of the link but the hash of its password: in the place of that, it says
whether there was one.
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
from backend.storage.feed.runs import Run, Told
from backend.storage.links import links
from backend.storage.links.tags import find_tags_of


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
