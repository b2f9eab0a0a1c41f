"""Servers beside the service, as a site runs them: processes on free ports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.polling import wait_for
from tests.processes.forked.service import ForkedProcess, forked
from tests.processes.service_process import free_port

ROOT = Path(__file__).parents[2]


@contextmanager
def proxy_process(service: str) -> Iterator[str]:
    """The example proxy in Python in front of a service; gives the SDK's baseUrl on it."""
    port = free_port()
    with hypercorn_process("proxy_example.proxy:app", port, WAYLINK_SERVICE=service):
        yield f"http://127.0.0.1:{port}/a/hello"


@contextmanager
def hypercorn_process(application: str, port: int, **environment: str) -> Iterator[None]:
    """Hypercorn with this application, forked, for the length of the block.

    It serves by itself: a worker would be one more Python that imports everything.
    """
    arguments = [application, "--bind", f"127.0.0.1:{port}", "--workers", "0"]
    with forked(dict(os.environ) | environment, Path(os.devnull), "hypercorn", arguments) as (process, _):
        try:
            _wait_for(f"http://127.0.0.1:{port}", process, application)
            yield
        finally:
            process.terminate()


@contextmanager
def server_process(
    command: Sequence[str], address: str, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process for the length of the block, once the address answers anything."""
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as process:
        try:
            _wait_for(address, process, str(command))
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it. nginx as one process may sleep on where the signal comes just before it waits for events."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


def _wait_for(address: str, process: subprocess.Popen[bytes] | ForkedProcess, name: str) -> None:
    def answers() -> bool:
        assert process.poll() is None, f"{name} ended"
        try:
            httpx.get(address)
        except httpx.TransportError:
            return False
        return True

    wait_for(answers, f"{name} does not answer at {address}", seconds=60)
