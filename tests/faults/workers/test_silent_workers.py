"""A worker from which nothing is heard is ended and replaced, and the log says where it stood."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.faults.hanging_service import NO_ROOM, PATHS, REFUSAL, THREAD
from tests.polling import until, wait_for_async
from tests.processes.service_process import ServiceProcess, service_process

HANGING = "tests.faults.hanging_service"
Tell = Callable[[str], None]
# Seconds after which a silent worker has ended: two ticks of the supervisor, and a busy machine.
LATE = 12.0


async def hang(service: ServiceProcess, path: str) -> None:
    """Ask for what never comes, until the connection ends."""
    async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as client:
        with contextlib.suppress(httpx.TransportError):
            await client.get(path)


async def pid_that_answers(service: ServiceProcess, seconds: float = 60.0) -> int | None:
    """The process that answers within so many seconds, on a connection of its own; None where none does."""
    try:
        async with httpx.AsyncClient(base_url=service.base_url, timeout=seconds) as client:
            return int((await client.get("/")).text)
    except httpx.TransportError:
        return None


@pytest.mark.parametrize("path", sorted(PATHS))
async def test_a_worker_that_hangs_is_replaced(tmp_path: Path, path: str) -> None:
    """The only worker hangs, in Python or in C: another one answers, and a line of the log has the stack."""
    with service_process(tmp_path, module=HANGING, WAYLINK_STALL_SECONDS="2") as service:
        (hung,) = service.workers
        assert await pid_that_answers(service) == hung
        await hang(service, path)
        answering = await wait_for_async(lambda: pid_that_answers(service), "nobody answers")
        assert answering != hung
        (line,) = service.log_lines
        function = path.replace("/", "hang_").replace("-", "_")
        assert line["trace"][-1].endswith(f" {function}") or line["trace"][-2].endswith(f" {function}")
        assert any(place.endswith(" hanging_app") for place in line["trace"])
        assert line["message"] == (
            f"Worker {hung} was ended: its event loop had not turned for 2 seconds, at {line['trace'][-1]}"
        )
        assert service.stop() == 0


async def test_a_worker_that_is_stopped_is_replaced(tmp_path: Path, tell: Tell) -> None:
    """By SIGSTOP: who waits for it is let go, all others are answered by the other worker meanwhile."""
    settings = {"WAYLINK_STALL_SECONDS": "2", "WAYLINK_WORKERS": "2"}
    with service_process(tmp_path, module=HANGING, **settings) as service:
        async with httpx.AsyncClient(base_url=service.base_url, timeout=60) as visitor:
            stopped = int((await visitor.get("/")).text)
            os.kill(stopped, signal.SIGSTOP)
            began = time.monotonic()
            waiting = asyncio.create_task(visitor.get("/"))
            (other,) = {await pid_that_answers(service) for _ in range(10)}
            assert other in service.workers - {stopped}
            with pytest.raises(httpx.TransportError):
                await waiting
            tell(f"a visitor of a worker that may be silent for 2 s waited {time.monotonic() - began:.1f} s")
            assert time.monotonic() - began < 2 + LATE
        await until(lambda: len(service.workers - {stopped}) == 2, "it is not replaced")
        (line,) = service.log_lines
        told = (
            f"Worker {stopped} was ended: it had been stopped from outside (by SIGSTOP or a debugger) for 2 s"
        )
        assert line["message"].startswith(told)
        assert service.stop() == 0


async def test_sigterm_ends_a_service_whose_worker_is_stopped(tmp_path: Path) -> None:
    """The supervisor goes on listening for its workers while they end."""
    with service_process(tmp_path, module=HANGING, WAYLINK_STALL_SECONDS="1") as service:
        (worker,) = service.workers
        os.kill(worker, signal.SIGSTOP)
        began = time.monotonic()
        assert await asyncio.to_thread(service.stop) == 1
        assert time.monotonic() - began < 1 + LATE


async def test_a_service_that_stood_still_keeps_its_workers(tmp_path: Path) -> None:
    """A machine that was frozen for longer than a worker may be silent: silence that the supervisor could not
    hear is nobody's."""
    with service_process(tmp_path, module=HANGING, WAYLINK_STALL_SECONDS="2", WAYLINK_WORKERS="2") as service:
        kept, other = service.workers
        frozen = (service.process.pid, kept, other)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(4)  # the frost itself
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        os.kill(other, signal.SIGSTOP)  # had the other one been ended, it would have been before this one
        await until(lambda: other not in service.workers, "a silent worker is not ended")
        assert kept in service.workers
        await until(lambda: service.log_lines, "it is not told that a worker was ended")
        assert [line["message"].split()[1] for line in service.log_lines] == [str(other)]


async def test_sigterm_ends_a_service_that_hangs(tmp_path: Path) -> None:
    """A worker is left alone as long as its loop turns; told to stop while it hangs, the service ends with
    exit code 1, and says where it stood."""
    with service_process(tmp_path, module=HANGING, WAYLINK_STALL_SECONDS="3") as service:
        (worker,) = service.workers
        until = time.monotonic() + 3.5
        while time.monotonic() < until:
            assert await pid_that_answers(service) == worker
            await asyncio.sleep(0.1)
        hanging = asyncio.create_task(hang(service, "/in-python"))
        await wait_for_async(
            lambda: pid_that_answers(service, seconds=1), "it does not hang", lambda pid: pid is None
        )
        assert await asyncio.to_thread(service.stop) == 1
        await hanging
        (line,) = service.log_lines
        assert line["trace"][-1].endswith(" hang_in_python")


async def test_sigterm_ends_a_service_whose_worker_does_not_end(tmp_path: Path) -> None:
    """A thread that never ends keeps a worker's process after its loop: it is killed in the end."""
    with service_process(tmp_path, module=HANGING, WAYLINK_GRACEFUL_SECONDS="1") as service:
        await hang(service, THREAD)  # is answered
        assert await asyncio.to_thread(service.stop) == 1
        assert "(exit code -9)" in service.log_text


async def test_a_worker_that_can_not_be_replaced_says_why(tmp_path: Path) -> None:
    """What keeps the next worker from starting is in the log; it is tried again until it starts."""
    with service_process(tmp_path, module=HANGING) as service:
        (tmp_path / REFUSAL.name).write_text("the disk is away")
        (killed,) = service.workers
        os.kill(killed, signal.SIGKILL)
        await wait_for_async(
            lambda: told(service), "the reason is not told", lambda text: "could not start: the disk" in text
        )
        (tmp_path / REFUSAL.name).unlink()
        assert await wait_for_async(lambda: pid_that_answers(service), "nobody answers") != killed


async def told(service: ServiceProcess) -> str:
    """What the service has logged and printed."""
    return service.log_text


async def test_a_worker_that_can_not_be_replaced_ends_no_other(tmp_path: Path) -> None:
    """While the system has no room for another process, the worker that is left answers; later there are two
    again."""
    with service_process(tmp_path, module=HANGING, WAYLINK_WORKERS="2") as service:
        no_room = tmp_path / NO_ROOM.name
        no_room.touch()
        killed, left = service.workers
        os.kill(killed, signal.SIGKILL)
        refused = "No worker can be started in place of one that ended: "

        def is_refused() -> bool:
            return any(line["message"].startswith(refused) for line in service.log_lines)

        await until(is_refused, "no fork fails")
        assert await pid_that_answers(service) == left
        no_room.unlink()
        await until(lambda: len(service.workers - {killed}) == 2, "it is not replaced")
        assert left in service.workers
        assert service.stop() == 0
