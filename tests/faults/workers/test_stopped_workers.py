"""A worker stopped by SIGSTOP: visitors are served again soon, and what was counted goes on being right."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.polling import until, wait_for, wait_for_async
from tests.processes.service_process import ServiceProcess

VISITORS = 4
STALL = 2.0
# Of so many seconds more, two are the supervisor's, and the others a busy machine's.
LATE = 12.0


@dataclass
class Visits:
    """Visitors who follow a link, each on a connection that stays open, and go on when it is cut off."""

    link: VisitedLink
    service: ServiceProcess
    waited: list[float] = field(default_factory=list)
    cut_off: list[float] = field(default_factory=list)
    _stop: bool = False

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """They come for the length of the block."""
        async with asyncio.TaskGroup() as visitors:
            for _ in range(VISITORS):
                visitors.create_task(self._visit_often())
            try:
                yield
            finally:
                self._stop = True

    async def more(self, count: int) -> None:
        """Return once so many more were answered."""
        least = len(self.waited) + count
        await until(lambda: len(self.waited) >= least, "visits are not answered", seconds=30)

    async def _visit_often(self) -> None:
        async with self.link.client(self.service) as client:
            while not self._stop:
                began = time.monotonic()
                try:
                    assert (await client.get(f"/{self.link.path}")).status_code == 302
                    self.waited.append(time.monotonic() - began)
                except httpx.TransportError:
                    self.cut_off.append(time.monotonic() - began)
                await asyncio.sleep(0.02)


async def test_a_stopped_worker_costs_seconds_and_no_click(
    link: VisitedLink, tmp_path: Path, outcome: TellOutcome
) -> None:
    """Its visitors are let go, it is replaced, and counting goes on; each answered click counts once."""
    settings = {"WAYLINK_WORKERS": "2", "WAYLINK_STALL_SECONDS": f"{STALL:g}"}
    with link.service(tmp_path, **settings) as service:
        visits = Visits(link, service)
        async with visits.load():
            await visits.more(50)
            os.kill(stopped := min(service.workers), signal.SIGSTOP)
            before = await link.counted()
            await until(lambda: len(service.workers - {stopped}) == 2, "it is not replaced")
            await visits.more(50)
            await wait_for_async(link.counted, "nothing is counted", lambda seen: seen > before, seconds=30)
        await wait_for_async(link.counted, "not all", lambda seen: seen >= len(visits.waited), seconds=60)
        name = "waylink_clicks_waiting_bytes"
        wait_for(partial(metric, service, name), f"{name} is not 0", lambda seen: seen == 0, seconds=60)
    answered, counted, cut_off = len(visits.waited), await link.counted(), len(visits.cut_off)
    longest = max(visits.waited + visits.cut_off)
    outcome(Outcome("SIGSTOP of a worker", answered, counted, longest, cut_off=cut_off))
    assert answered <= counted <= answered + cut_off
    assert longest < STALL + LATE
