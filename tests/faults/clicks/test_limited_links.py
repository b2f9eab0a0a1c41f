"""A link that lets only so many clicks through, at two services that share nothing but the database."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.polling import wait_for_async
from tests.processes.service_process import ServiceProcess

VISITORS = 60
CRAWLER = {"user-agent": "Googlebot/2.1"}


async def limit(link: VisitedLink, max_clicks: int) -> None:
    """Let the link through so many clicks in all."""
    await link.database["links"].update_one(
        {"_id": link.id}, {"$set": {"limits": {"max_clicks": max_clicks}}}
    )


async def is_open(link: VisitedLink, *services: ServiceProcess) -> None:
    """Return once a crawler, which uses nothing up, is redirected at each of them."""
    for service in services:
        async with link.client(service) as client:

            async def answered(client: httpx.AsyncClient = client) -> int:
                return (await client.get(f"/{link.path}", headers=CRAWLER)).status_code

            await wait_for_async(answered, "the link is not open", lambda status: status == 302)


async def visits(link: VisitedLink, *services: ServiceProcess) -> Counter[int]:
    """What the visitors get who come at once, as many to each of the services. 0 stands for no answer."""
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(link.client(service)) for service in services]

        async def visit(number: int) -> int:
            try:
                return (await clients[number % len(clients)].get(f"/{link.path}")).status_code
            except httpx.TransportError:
                return 0

        return Counter(await asyncio.gather(*map(visit, range(VISITORS))))


async def test_the_last_clicks_of_a_link(link: VisitedLink, tmp_path: Path, outcome: TellOutcome) -> None:
    """Sixty visitors at once, for fewer clicks than that: exactly as many are redirected as were left,
    and as many are counted; so again when the limit is raised.

    kill -9 of one of two services while visitors come: never more redirects than the limit says, and each
    that was answered is counted; what it had taken for visitors who got no answer stays used up.
    """
    await limit(link, 40)
    with link.service(tmp_path / "two") as two:
        with link.service(tmp_path / "one") as one:
            assert await visits(link, one, two) == {302: 40, 404: 20}
            await limit(link, 47)
            await is_open(link, one, two)
            assert await visits(link, one, two) == {302: 7, 404: 53}
            await wait_for_async(link.counted, "clicks are not counted", lambda seen: seen >= 47)
            assert await link.counted() == 47
            await limit(link, most := 47 + 3 * VISITORS)
            await is_open(link, one, two)
            answers = Counter({302: 47})
            coming = asyncio.create_task(visits(link, one, two))
            taken = link.database["taken_clicks"]
            await wait_for_async(lambda: taken.find_one({"taken": {"$gt": 47}}), "nobody came", bool)
            one.kill()
            answers += await coming
        with link.service(tmp_path / "one") as one:  # counts what the killed one had on its disk
            while (more := await visits(link, one, two))[302]:
                answers += more
            least = answers[302]
            counted = await wait_for_async(link.counted, "clicks are not counted", lambda seen: seen >= least)
    outcome(Outcome("one of two services killed, a link with max_clicks", least, counted))
    assert least <= counted <= most
    assert most - least <= answers[0]
