"""The clicks of a process that ended, and new ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from backend.domain.ids import LinkId
from tests.faults.metrics import metric
from tests.faults.visited_link import VisitedLink
from tests.polling import wait_for

RECORDS = 30_000
OLD_LINK = "the link of the clicks left behind"


async def test_new_clicks_do_not_wait_for_old_ones(
    link: VisitedLink, tmp_path: Path, is_long: bool, tell: Callable[[str], None]
) -> None:
    """While a long log is shipped that a process left behind, new clicks are counted, and ever less waits."""
    (tmp_path / "clicks").mkdir()
    left_behind = link.record(LinkId(OLD_LINK)) * RECORDS * (10 if is_long else 1)
    (tmp_path / "clicks" / "a.log").write_bytes(left_behind)
    with link.service(tmp_path) as service:

        def waiting() -> float:
            return metric(service, "waylink_clicks_waiting_bytes")

        wait_for(waiting, "the log is not taken over")
        await link.visit(service)
        asked = time.monotonic()
        await link.wait_until_counted(1)
        took = time.monotonic() - asked
        tell(f"a new click beside {len(left_behind):,} bytes left behind: counted {took:.1f} s later")
        before = waiting()
        assert 0 < before < len(left_behind)
        wait_for(waiting, "it does not shrink", lambda seen: seen < before)
        service.kill()
