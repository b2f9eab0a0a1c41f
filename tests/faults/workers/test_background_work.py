"""Background work goes on, whatever it fails with, and says so while it fails."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from backend.doctor.configuration import examine_settings
from backend.settings import Settings
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.polling import wait_for, wait_for_async
from tests.processes.service_process import ServiceProcess

BAD = [
    b'[1,{"a":2},3.0,"web",null,"desktop","","","browser",null,null]\n',
    b'["o","l",1e300,"web",null,"desktop","","","browser",null,null]\n',
    b'["o","l",1.0,"web",null,"desktop","\\ud800","","browser",null,null]\n',
    b"[" * 50_000 + b"\n",
    b"\xff\x00\n",
    b"x" * 250_000 + b"\n",
]


def readiness(service: ServiceProcess) -> str:
    """What /readyz says."""
    return str(httpx.get(f"{service.base_url}/readyz", timeout=60).json()["status"])


async def test_what_can_not_be_read_is_set_aside(
    link: VisitedLink, tmp_path: Path, outcome: TellOutcome
) -> None:
    """Good records around it and in other logs are counted; a file of its own keeps it, and it is told.

    A log that can't be opened later: /readyz says so, visitors go on, and all is counted afterwards.
    """
    (tmp_path / "clicks").mkdir()
    good = link.record()
    left_behind = b"".join(bad + good for bad in BAD) + b"torn"
    (tmp_path / "clicks" / "a.log").write_bytes(left_behind)
    (tmp_path / "clicks" / "b.log").write_bytes(good)
    with link.service(tmp_path) as service:
        await link.visit(service)
        await link.wait_until_counted(len(BAD) + 2)
        outcome(Outcome("unreadable records between those of clicks", len(BAD) + 2, await link.counted()))
        wait_for(lambda: not (tmp_path / "clicks" / "a.log").exists(), "the log is not done")
        kept = (tmp_path / "clicks" / "unreadable" / "a.log").read_bytes()
        assert kept.replace(b"\n", b"") == b"".join([*BAD, b"torn"]).replace(b"\n", b"")
        assert metric(service, "waylink_unreadable_click_records_total") >= len(BAD) + 1
        assert metric(service, "waylink_background_failures_total") == 0
        assert readiness(service) == "ok"
        await outlive_a_lack_of_files(link, tmp_path, service, counted=len(BAD) + 2)
        outcome(Outcome("no file can be opened", len(BAD) + 5, await link.counted()))
    found = [finding for finding in examine_settings(Settings(data_dir=tmp_path), {}) if finding.advice]
    assert any("can't be read" in finding.message for finding in found)


async def test_a_log_that_always_fails_is_in_no_other_logs_way(link: VisitedLink, tmp_path: Path) -> None:
    """Where its bad record can't be set aside, a log that is left behind later is counted all the same."""
    (tmp_path / "clicks").mkdir()
    (tmp_path / "clicks" / "unreadable").touch()  # so there can be no folder
    (tmp_path / "clicks" / "a.log").write_bytes(BAD[0])
    with link.service(tmp_path) as service:
        wait_for(lambda: "left behind: FileExistsError" in readiness(service), "nobody is told")
        (tmp_path / "clicks" / "b.log").write_bytes(link.record())
        await link.wait_until_counted(1)
    assert (tmp_path / "clicks" / "a.log").read_bytes() == BAD[0]


@contextmanager
def no_more_files(service: ServiceProcess) -> Iterator[None]:
    """The service can open no file for the length of the block."""
    (pid,) = service.workers
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


async def outlive_a_lack_of_files(
    link: VisitedLink, data_dir: Path, service: ServiceProcess, counted: int
) -> None:
    """Let the service have no files for a while: three more clicks are counted, one of a log left behind."""
    # One connection, asked all the time: the service can't take a new one while it has no files.
    async with httpx.AsyncClient(base_url=service.base_url, timeout=30) as client:

        async def visit() -> int:
            return (await client.get(f"/{link.path}", headers={"host": link.domain})).status_code

        async def ready() -> str:
            return str((await client.get("/readyz")).json()["status"])

        assert await visit() == 302
        (data_dir / "clicks" / "c.log").write_bytes(link.record())
        with no_more_files(service):
            await wait_for_async(ready, "nobody is told", lambda seen: "shipping clicks left behind" in seen)
            assert await visit() == 302
        await link.wait_until_counted(counted + 3)
        await wait_for_async(ready, "it is not ready again", lambda seen: seen == "ok")
    assert metric(service, "waylink_background_failures_total") >= 1
