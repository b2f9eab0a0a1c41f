"""Several worker processes: one that dies is replaced, and none holds the service."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import ServiceStarter
from tests.faults.links import DOMAIN, new_link, wait_for_clicks
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import until, wait_for
from tests.processes.forked.service import forked_command
from tests.processes.service_process import ServiceProcess, environment_of, free_port

SECONDS = 30.0


def is_healthy(service: ServiceProcess) -> bool:
    """Whether the service answers."""
    try:
        return httpx.get(f"{service.base_url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def connection_with(service: ServiceProcess, sent: bytes) -> socket.socket:
    """An open connection on which this was sent."""
    address = urlsplit(service.base_url)
    connection = socket.create_connection((address.hostname, address.port))
    connection.sendall(sent)
    return connection


@pytest.fixture(scope="module")
def service(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """A service with two workers, which ends with exit code 0 whatever became of its workers."""
    with start_service(WAYLINK_WORKERS="2", WAYLINK_GRACEFUL_SECONDS="1") as service:
        yield service
        assert service.stop() == 0


def test_a_worker_that_dies_is_replaced(service: ServiceProcess) -> None:
    """kill -9 of one worker: another one takes its place, and the log says so."""
    wait_for(lambda: len(service.workers) == 2, "another test's workers are not replaced", seconds=SECONDS)
    before, told = service.workers, len(service.log_lines)
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: len(service.workers - {killed}) == 2, "the worker was not replaced", seconds=SECONDS)
    wait_for(lambda: is_healthy(service), "the new worker does not answer", seconds=SECONDS)
    # A busy machine may have a change stream opened again, which is told too.
    errors = [line["message"] for line in service.log_lines[told:] if line["level"] == "error"]
    assert errors == [f"Worker {killed} ended with exit code -9"]


async def click(service: ServiceProcess, path: str, killed: asyncio.Event, answered: list[int]) -> int:
    """Visit the link again and again until told to stop, or nobody answers; keeps the statuses.

    Gives 1 where the last visit was sent and never answered, else 0.
    """
    async with httpx.AsyncClient(base_url=service.base_url, headers={"host": DOMAIN}, timeout=60) as client:
        while not killed.is_set():
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


async def test_no_answered_click_is_lost_with_the_workers(
    service: ServiceProcess, times_as_long: int, outcome: TellOutcome
) -> None:
    """kill -9 of all workers under load: those that replace them count every answered click once."""
    link = new_link(service)

    def kill() -> None:
        for worker in service.workers:
            os.kill(worker, signal.SIGKILL)

    answered, cut_off = await clicks_until_killed(service, link["path"], 200 * times_as_long, kill)
    wait_for(lambda: is_healthy(service), "no new worker answers", seconds=SECONDS)
    counted = wait_for_clicks(service, link, answered)
    outcome(Outcome("kill -9 of both workers under load", answered, counted, cut_off=cut_off))
    assert answered <= counted <= answered + cut_off


def test_workers_that_can_not_start_say_why(tmp_path: Path) -> None:
    """With a MongoDB that does not answer, several workers end with the same sentence as one."""
    environment = environment_of(
        tmp_path,
        WAYLINK_WORKERS="2",
        WAYLINK_PORT=str(free_port()),
        WAYLINK_MONGODB_URI=f"mongodb://127.0.0.1:{free_port()}/?serverSelectionTimeoutMS=200",
    )
    log = tmp_path / "log"
    with forked_command(environment, log, ["serve"]) as process:
        assert process.wait(60) == 1
    lines = log.read_text().splitlines()
    assert lines[-1].startswith("Error: MongoDB at 127.0.0.1:")
    assert not any("Traceback" in line for line in lines)


def test_a_request_that_never_ends_does_not_hold_the_service(service: ServiceProcess) -> None:
    """A client sends half a body and waits: after graceful_seconds the service ends. It is the last test."""
    head = b"POST /serviceCore/sdk/v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
    with connection_with(service, head + b"Content-Type: text/plain\r\n\r\n{"):
        assert service.stop() == 0
