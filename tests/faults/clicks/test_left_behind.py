"""The clicks of a process that ended, and new ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from backend.domain.ids import LinkId
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.polling import wait_for, wait_for_async

RECORDS = 1_000_000
OLD_LINK = "the link of the clicks left behind"


async def test_new_clicks_do_not_wait_for_old_ones(
    link: VisitedLink,
    tmp_path: Path,
    times_as_long: int,
    tell: Callable[[str], None],
    outcome: TellOutcome,
) -> None:
    """While a long log is shipped that a process left behind, new clicks are counted, and ever less waits."""
    (tmp_path / "clicks").mkdir()
    await link.counted()  # then answers have to read only what comes
    left_behind = link.record(LinkId(OLD_LINK)) * RECORDS * times_as_long
    (tmp_path / "clicks" / "a.log").write_bytes(left_behind)
    with link.service(tmp_path) as service:

        def waiting() -> float:
            return metric(service, "waylink_clicks_waiting_bytes")

        wait_for(waiting, "the log is not taken over")
        await link.visit(service)
        asked = time.monotonic()
        await wait_for_async(link.counted, "the new click is not counted", lambda seen: seen == 1)
        took, before = time.monotonic() - asked, waiting()  # at once: the log is at its end soon
        await link.wait_until_counted(1)
        outcome(Outcome("a new click beside a log left behind", 1, await link.counted()))
        tell(f"a new click beside {len(left_behind):,} bytes left behind: counted {took:.1f} s later")
        assert 0 < before < len(left_behind)
        wait_for(waiting, "it does not shrink", lambda seen: seen < before)
        service.kill()
