"""Servers beside the service, as a site runs them: processes on free ports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.polling import wait_for
from tests.processes.service_process import free_port

ROOT = Path(__file__).parents[2]


@contextmanager
def proxy_process(service: str) -> Iterator[str]:
    """The example proxy in Python in front of a service; gives the SDK's baseUrl on it."""
    bind = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "hypercorn", "proxy_example.proxy:app", "--bind", bind]
    with server_process(command, f"http://{bind}", WAYLINK_SERVICE=service):
        yield f"http://{bind}/a/hello"


@contextmanager
def server_process(
    command: Sequence[str], address: str, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process for the length of the block, once the address answers anything."""
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as process:
        try:
            _wait_for(address, process)
            yield process
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        assert process.poll() is None, f"{process.args!r} ended"
        try:
            httpx.get(address)
        except httpx.TransportError:
            return False
        return True

    wait_for(answers, f"{process.args!r} does not answer at {address}", seconds=60)
