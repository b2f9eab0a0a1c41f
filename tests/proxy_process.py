"""The example proxy in Python as a site would run it: a process on a free port."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.service_process import free_port


@contextmanager
def proxy_process(service: str) -> Iterator[str]:
    """The proxy in front of a service for the length of the block; gives its port's address on loopback."""
    bind = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "hypercorn", "proxy_example.proxy:app", "--bind", bind]
    environment = os.environ | {"WAYLINK_SERVICE": service}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://{bind}")
            yield f"http://{bind}"
        finally:
            process.terminate()


def _wait_for(address: str) -> None:
    """Return when the address answers anything."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the proxy did not start")
