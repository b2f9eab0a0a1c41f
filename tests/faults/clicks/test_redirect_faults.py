"""Redirects on real processes: killed under load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.faults.links import DOMAIN, new_link, wait_for_clicks
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import until
from tests.processes.service_process import ServiceProcess, own_database, service_process


async def click(service: ServiceProcess, path: str, until: asyncio.Event, answered: list[int]) -> int:
    """Visit the link again and again until told to stop, or nobody answers; keeps the statuses.

    Gives 1 where the last visit was sent and never answered, else 0.
    """
    async with httpx.AsyncClient(base_url=service.base_url, headers={"host": DOMAIN}, timeout=60) as client:
        while not until.is_set():
            try:
                answered.append((await client.get(path)).status_code)
            except httpx.ConnectError:
                return 0
            except httpx.TransportError:
                return 1
    return 0


async def answers(answered: list[int], least: int) -> None:
    """Return when so many visits were answered."""
    await until(lambda: len(answered) >= least, "visits are not answered", seconds=60)


async def clicks_until_killed(
    service: ServiceProcess, path: str, least: int, kill: Callable[[], None]
) -> tuple[int, int]:
    """How many visits were answered, all with 302, and how many cut off, when `kill` came under load."""
    answered: list[int] = []
    killed = asyncio.Event()
    visitors = [asyncio.create_task(click(service, path, killed, answered)) for _ in range(8)]
    await answers(answered, least)
    kill()
    killed.set()
    cut_off = sum(await asyncio.gather(*visitors))
    assert set(answered) == {302}
    return len(answered), cut_off


async def test_no_answered_click_is_lost_by_kill_9(
    mongodb_uri: str, tmp_path: Path, times_as_long: int, outcome: TellOutcome
) -> None:
    """Every click that was answered before the process was killed is counted when it runs again, once."""
    with own_database(mongodb_uri) as own:
        with service_process(tmp_path, **own) as first:
            link = new_link(first)
            answered, cut_off = await clicks_until_killed(
                first, link["path"], 200 * times_as_long, first.kill
            )
        with service_process(tmp_path, **own) as second:
            counted = wait_for_clicks(second, link, answered)
    outcome(Outcome("kill -9 of the service under load", answered, counted, cut_off=cut_off))
    # A click may be on disk whose answer was still on its way.
    assert answered <= counted <= answered + cut_off
