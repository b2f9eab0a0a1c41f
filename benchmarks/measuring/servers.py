"""Starts the servers that `make bench` compares: the service and an empty app, each on Hypercorn or
Granian.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from backend.storage.analytics.process_start import MODULE
from benchmarks.measuring.cores import move_to
from tests.processes.service_process import environment_of, free_port

HYPERCORN, GRANIAN = "hypercorn", "granian"
_GRANIAN = (sys.executable, "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--no-ws")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server with its processes, but for the one that answers questions of analytics
    (benchmarks/measuring/analytics_process)."""

    url: str
    pid: int

    def move_to(self, core: int) -> None:
        """Run it on this processor core."""
        move_to(core, _family(self.pid))

    @property
    def megabytes(self) -> float:
        """The resident memory of the server's processes, in millions of bytes."""
        return sum(map(memory_of, _family(self.pid))) / 1e6

    @property
    def cpu_seconds(self) -> float:
        """The processor time that the server's processes have used, in user and system mode together."""
        return sum(map(cpu_seconds_of, _family(self.pid)))

    @property
    def loop_seconds(self) -> float:
        """What of it the first thread of each process has used, which runs the event loop."""
        return sum(map(_loop_seconds, _family(self.pid)))


def installed_servers() -> list[str]:
    """The names of the ASGI servers that are installed and can be measured."""
    return [HYPERCORN] + ([GRANIAN] if importlib.util.find_spec("granian") else [])


@contextmanager
def empty_app(server: str) -> Iterator[Server]:
    """Run the empty app on this ASGI server for the length of the block."""
    port = free_port()
    command = {
        HYPERCORN: (sys.executable, "-m", "benchmarks.empty_app", str(port)),
        GRANIAN: (*_GRANIAN, "--port", str(port), "benchmarks.empty_app:app"),
    }[server]
    with _running(command, port, None) as running:
        yield running


@contextmanager
def service(
    server: str, data_dir: Path, mongodb_uri: str, database: str = "waylink", **changed: str
) -> Iterator[Server]:
    """Run the whole service on this ASGI server for the length of the block, with this database.

    `changed` are WAYLINK_ variables.
    """
    port = free_port()
    command = {
        HYPERCORN: (sys.executable, "-m", "backend.cli", "serve"),
        GRANIAN: (*_GRANIAN, "--port", str(port), "--factory", "backend.app:create_app"),
    }[server]
    settings = environment_of(
        data_dir,
        WAYLINK_PORT=str(port),
        WAYLINK_MONGODB_URI=mongodb_uri,
        WAYLINK_MONGODB_DATABASE=database,
        **changed,
    )
    with _running(command, port, settings) as running:
        yield running


@contextmanager
def _running(command: tuple[str, ...], port: int, environment: dict[str, str] | None) -> Iterator[Server]:
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(  # noqa: S603 - our own words
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(url, process)
            yield Server(url, process.pid)
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(url, timeout=5)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{process.args!r} does not answer at {url}")


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):  # it has ended
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if not _is_analytics(int(child)):
                yield from _family(int(child))


def _is_analytics(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return MODULE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def cpu_seconds_of(pid: int) -> float:
    """The processor time that this process has used, in user and system mode together."""
    # The number of its clock, as Linux makes it: /proc tells hundredths of a second only.
    return time.clock_gettime(~pid << 3 | 2)


def memory_of(pid: int) -> int:
    """The process's resident memory in bytes; of pages that it shares with others its part."""
    with contextlib.suppress(OSError):  # it has ended
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return 0


def _loop_seconds(pid: int) -> float:
    """The processor time of the process's first thread."""
    fields = Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
