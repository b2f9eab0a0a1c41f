"""More connections than a process may have: those that are at work stay, and visitors are answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults.few_files import FILES
from tests.faults.metrics import metric
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.visited_link import VisitedLink
from tests.processes.service_process import ServiceProcess

MANY = 2 * FILES


def connect(service: ServiceProcess) -> socket.socket:
    """An open connection."""
    address = urlsplit(service.base_url)
    return socket.create_connection((address.hostname, address.port or 80), timeout=20)


def open_files(service: ServiceProcess) -> int:
    """How many files and connections the worker has."""
    (pid,) = service.workers
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


@contextmanager
def many_connections(service: ServiceProcess, sent: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, far more than there may be, each with the start of a request."""
    with ExitStack() as opened:
        connections = []
        for _ in range(MANY):
            connection = opened.enter_context(connect(service))
            with contextlib.suppress(ConnectionError):  # it had to go already
                connection.sendall(sent)
            connections.append(connection)
        yield connections


HALF_A_HEAD = b"GET /"
HALF_A_BODY = b"POST /serviceCore/sdk/v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"


async def test_idle_connections_make_room(link: VisitedLink, tmp_path: Path, outcome: TellOutcome) -> None:
    """With twice as many connections as files, whatever they wait with, visitors on new ones are redirected.

    A body that comes slowly is read to its end and answered meanwhile: idle connections go first.
    """
    with link.service(tmp_path, module="tests.faults.few_files") as service:
        with connect(service) as slow:
            slow.sendall(HALF_A_BODY)
            with many_connections(service, b""):
                await link.visit(service)
                slow.sendall(b"}" * 8)
                answer = await asyncio.to_thread(slow.recv, 100)
        assert answer.startswith(b"HTTP/1.1 4")  # it has no key
        for sent in (HALF_A_HEAD, HALF_A_BODY):
            with many_connections(service, sent):
                await link.visit(service)
                assert open_files(service) < FILES
        await link.wait_until_counted(3)
        outcome(Outcome("connections used up", 3, await link.counted()))
        assert metric(service, "waylink_connections_ended_total") > FILES
