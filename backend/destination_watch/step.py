"""One step of a round of checks: reads the next links, asks their destinations and stores the results."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.fields.addresses.destination_templates import has_placeholders
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import BrokenDestination, keep_results
from backend.storage.links.destinations.rounds import Round, go_on_behind, next_links
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work
from backend.web_client.destination_check import DestinationCheck

LINKS_PER_STEP = 20


@dataclass(frozen=True, slots=True)
class CheckedLinks:
    """The links of a step that could be checked, and the broken destinations by link id. After the last link
    it `is_last`."""

    links: Sequence[Link]
    broken: dict[LinkId, list[BrokenDestination]]
    is_last: bool


async def check_next_links(
    database: Database, check: DestinationCheck, begun: Round, org_id: OrgId | None, now: datetime
) -> CheckedLinks:
    """Check the destinations of the next LINKS_PER_STEP links of a round, store the results and return them.

    `org_id` restricts the round to one organization. After an interruption the same links are checked again.
    A link that can't be checked is left out until the next round.
    """
    found = await next_links(database, org_id, begun.after, LINKS_PER_STEP)
    checked: list[Link] = []
    broken: dict[LinkId, list[BrokenDestination]] = {}

    async def check_some(some: Sequence[Link]) -> None:
        problems = await _problems(check, some)
        results = {link.id: (link.org_id, _broken(link, problems, now)) for link in some}
        await keep_results(database, results, now)
        checked.extend(some)
        broken.update({link_id: found for link_id, (_, found) in results.items() if found})

    await Items(database, Work.DESTINATIONS).all(found, check_some)
    await go_on_behind(database, begun, LinkId(found[-1].id) if found else None)
    return CheckedLinks(checked, broken, is_last=not found)


async def _problems(check: DestinationCheck, links: Sequence[Link]) -> dict[str, str]:
    """The problems of these links' destinations by their addresses; each organization asks for its own."""
    urls: defaultdict[OrgId, list[str]] = defaultdict(list)
    for link in links:
        # Without a visitor who fills it in, such an address may well lead nowhere.
        urls[link.org_id] += [url for url in link.destinations.values() if not has_placeholders(url)]
    found = await asyncio.gather(*(check.problems(of_one, org_id) for org_id, of_one in urls.items()))
    return {url: problem for problems in found for url, problem in problems.items()}


def _broken(link: Link, problems: dict[str, str], now: datetime) -> list[BrokenDestination]:
    return [
        BrokenDestination(name, url, problems[url], now)
        for name, url in link.destinations.items()
        if url in problems
    ]
