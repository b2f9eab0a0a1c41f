"""One step of a look at all destinations: the next links, what they lead to, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import BrokenDestination, keep_results
from backend.storage.links.destinations.rounds import Round, go_on_behind, next_links
from backend.web_client.destination_check import DestinationCheck

AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Looked:
    """The links that were looked at, none if there are no more, and those of them that are broken."""

    links: Sequence[Link]
    broken: dict[LinkId, list[BrokenDestination]]


async def look_at_next(
    database: Database, check: DestinationCheck, begun: Round, org_id: OrgId | None, now: datetime
) -> Looked:
    """Go on with a round whose turn was taken. After an interruption the same links are looked at again."""
    links = await next_links(database, org_id, begun.after, AT_ONCE)
    problems = await check.problems(url for link in links for url in link.destinations.values())
    found = {link.id: (link.org_id, _broken(link, problems, now)) for link in links}
    await keep_results(database, found, now)
    await go_on_behind(database, begun, links[-1].id if links else None)
    return Looked(links, {link_id: broken for link_id, (_, broken) in found.items() if broken})


def _broken(link: Link, problems: dict[str, str], now: datetime) -> list[BrokenDestination]:
    return [
        BrokenDestination(name, url, problems[url], now)
        for name, url in link.destinations.items()
        if url in problems
    ]
