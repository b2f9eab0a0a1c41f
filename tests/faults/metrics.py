"""What /metrics of a running service says."""

from __future__ import annotations

import httpx

from tests.processes.service_process import ServiceProcess


def metric(service: ServiceProcess, name: str) -> float:
    """The sum of a metric over its labels."""
    lines = httpx.get(f"{service.base_url}/metrics", timeout=60).text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.partition("{")[0].startswith(name))
