"""What pages say of background work that fails for one of the organization's things."""

from __future__ import annotations

from collections.abc import Mapping

from backend.dashboard.frame.blueprint import org_id
from backend.storage.processes.failing_items import FailingItem, list_failing
from backend.storage.processes.work import Work
from backend.web.current import resources


async def failing_of(work: Work) -> Mapping[str, str]:
    """For which things of the organization this work fails at the moment: a sentence for each, by its id."""
    failing = await list_failing(resources().database, org_id(), work)
    return {item.item: _sentence(item) for item in failing}


def _sentence(failing: FailingItem) -> str:
    times = "once" if failing.tries == 1 else f"{failing.tries:,} times"
    return (
        f"An error of Waylink stops this: {failing.error}. It happened {times} since "
        f"{failing.since:%-d %b, %H:%M} UTC, and it is tried again after {failing.again_at:%H:%M} UTC. The "
        "service's log says more."
    )
