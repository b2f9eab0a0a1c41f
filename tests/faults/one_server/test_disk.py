"""A disk that is full or hangs: visitors are answered soon, and no click is lost or counted twice."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.clicks.test_torn_writes import files_no_larger
from tests.faults.frozen_disk import CAN_MOUNT, frozen, mounted_disk
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import Visits, visited_link
from tests.processes.replica_set import ReplicaSet

# Nobody waits longer than a second; so much more leaves room for a machine that is busy with other tests.
# That visitors do not wait for the end of an outage shows in how many are answered during it.
LONGEST = 10.0
OUTAGE = 3.0  # seconds; ten times as long with --long


class VisitsWithHealth(Visits):
    """The same, beside one who asks for /healthz."""

    def _works(self) -> list[Coroutine[Any, Any, None]]:
        return [*super()._works(), self._ask_for_health()]

    async def _ask_for_health(self) -> None:
        async with httpx.AsyncClient(base_url=self.service.base_url, timeout=LONGEST) as client:
            while not self._stop:
                assert (await client.get("/healthz")).status_code == 200
                await asyncio.sleep(0.3)

    async def outcome(self, scenario: str) -> Outcome:
        """What became of them, once all are counted."""
        await self.link.wait_until_counted(len(self.waited))
        return Outcome(scenario, len(self.waited), await self.link.counted(), max(self.waited))


@pytest.mark.skipif(not CAN_MOUNT, reason="only root may mount and freeze a file system")
async def test_a_disk_that_hangs_keeps_nobody_waiting(
    members: ReplicaSet,
    tmp_path: Path,
    times_as_long: int,
    outcome: TellOutcome,
) -> None:
    """While writes to the disk hang, and to MongoDB too, redirects and /healthz are answered; every click is
    counted once."""
    seconds = OUTAGE * times_as_long
    async with visited_link(members.uri) as link:
        with (
            mounted_disk(tmp_path) as disk,
            link.service(tmp_path, WAYLINK_DATA_DIR=str(disk)) as service,
        ):
            visits, at_risk = VisitsWithHealth(link, service), 0.0
            for database_too in (False, True):
                async with visits.load():
                    await visits.more(20)
                    with ExitStack() as outage:
                        outage.enter_context(frozen(disk))
                        if database_too:
                            outage.enter_context(members.frozen())
                        await asyncio.sleep(seconds)  # the outage itself
                        await visits.more(20)
                what = "disk and MongoDB" if database_too else "disk"
                outcome(await visits.outcome(f"{what} hung for {seconds:.0f} s"))
                before, at_risk = at_risk, metric(service, "waylink_clicks_at_risk_total")
                assert at_risk > before
            assert metric(service, "waylink_clicks_lost_total") == 0
    assert max(visits.waited) < LONGEST


async def test_a_full_disk_without_mongodb(
    members: ReplicaSet, tmp_path: Path, times_as_long: int, outcome: TellOutcome
) -> None:
    """While the disk is full and MongoDB hangs, visitors are answered; each click counts once afterwards."""
    seconds = OUTAGE * times_as_long
    scenario = f"disk full, MongoDB hung for {seconds:.0f} s"
    async with visited_link(members.uri) as link:
        with link.service(tmp_path) as service:
            visits = VisitsWithHealth(link, service)
            async with visits.load():
                await visits.more(20)
                with files_no_larger(service, 1), members.frozen():
                    await asyncio.sleep(seconds)  # the outage itself
                    await visits.more(20)
            seen = await visits.outcome(scenario)
            assert metric(service, "waylink_clicks_at_risk_total") > 0
    outcome(seen)
    assert max(visits.waited) < LONGEST
