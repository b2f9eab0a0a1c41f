"""What it costs to start the service with one worker process and with several, and the memory that they take.

`python -m benchmarks.workers` starts a MongoDB, and the service on it again and again. Seconds go until it is
ready and depend on what else the machine does; processor time is that of the service's processes until then.
Memory is that of all of them, shared pages counted once.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from backend.storage.embedded.mongodb import EmbeddedMongoDB
from benchmarks.measuring.servers import Server
from tests.processes.service_process import SERVE, service_process

_WORKERS = (1, 4)


def main() -> None:
    """Start it as often as the options say, and print the medians."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rounds", type=int, default=5, help="how often it is started with each number")
    asyncio.run(_measure(options.parse_args().rounds))


async def _measure(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as mongodb:
            _start(Path(folder), mongodb.uri, 1)  # the first one makes the indexes
            for workers in _WORKERS:
                starts = [_start(Path(folder), mongodb.uri, workers) for _ in range(rounds)]
                seconds, processor, megabytes = map(statistics.median, zip(*starts, strict=True))
                print(
                    f"{workers} worker{'s' * (workers > 1)}: ready after {seconds:.1f} s, "
                    f"{processor:.1f} s of processor time, {megabytes:.0f} MB"
                )


def _start(folder: Path, uri: str, workers: int) -> tuple[float, float, float]:
    began = time.monotonic()
    with service_process(
        folder / "service", SERVE, WAYLINK_MONGODB_URI=uri, WAYLINK_WORKERS=str(workers)
    ) as service:
        server = Server(service.base_url, service.process.pid)
        return time.monotonic() - began, server.cpu_seconds, server.megabytes


if __name__ == "__main__":
    main()
