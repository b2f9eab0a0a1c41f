"""A worker stopped by SIGSTOP: visitors are served again soon, and what was counted goes on being right."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import httpx

from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink, Visits
from tests.polling import until, wait_for, wait_for_async
from tests.processes.service_process import ServiceProcess

STALL = 2.0
# Of so many seconds more, two are the supervisor's, and the others a busy machine's.
LATE = 12.0


class VisitsThatGoOn(Visits):
    """Those on a connection that was cut off come again."""

    visitors = 4

    def __init__(self, link: VisitedLink, service: ServiceProcess) -> None:
        super().__init__(link, service)
        self.cut_off: list[float] = []

    async def _visit(self, client: httpx.AsyncClient) -> None:
        began = time.monotonic()
        try:
            await super()._visit(client)
        except httpx.TransportError:
            self.cut_off.append(time.monotonic() - began)


async def test_a_stopped_worker_costs_seconds_and_no_click(
    link: VisitedLink, tmp_path: Path, outcome: TellOutcome
) -> None:
    """Its visitors are let go, it is replaced, and counting goes on; each answered click counts once."""
    settings = {"WAYLINK_WORKERS": "2", "WAYLINK_STALL_SECONDS": f"{STALL:g}"}
    with link.service(tmp_path, **settings) as service:
        visits = VisitsThatGoOn(link, service)
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
