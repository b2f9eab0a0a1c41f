"""A click that the disk takes only a part of: counted once, and nothing goes round in circles."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink, log_of
from tests.processes.service_process import ServiceProcess

READS = 150  # a second: some for each look at the log, and for MongoDB


@contextmanager
def files_no_larger(service: ServiceProcess, size: int) -> Iterator[None]:
    """The service's files take no byte beyond that size, as on a full disk: the write before is cut short."""
    (pid,) = service.workers
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


def reads(service: ServiceProcess) -> int:
    """How often the worker has read from files and sockets so far; a busy machine does not change it."""
    (pid,) = service.workers
    facts = Path(f"/proc/{pid}/io").read_text().split()
    return int(facts[facts.index("syscr:") + 1])


async def test_a_torn_click_counts_once(link: VisitedLink, tmp_path: Path, outcome: TellOutcome) -> None:
    """A click whose line the disk took all but its newline, or less of, is stored directly and not again.

    While the start of its line is the last that the disk took, the service is idle.
    """
    with link.service(tmp_path) as service:
        await link.visit(service)
        log = log_of(tmp_path)
        line = log.read_bytes()
        for number, missing in enumerate((1, 60)):
            with files_no_larger(service, log.stat().st_size + len(line) - missing):
                await link.visit(service)
            await link.wait_until_counted(2 * number + 2)
            before = reads(service)
            await asyncio.sleep(1)  # the time that is measured
            assert reads(service) - before < READS
            await link.visit(service)
            await link.wait_until_counted(2 * number + 3)
            outcome(Outcome(f"torn click, {missing} of its bytes missing", 2, await link.counted() - 1))
            assert log.read_bytes().count(b"\n") == number + 2
