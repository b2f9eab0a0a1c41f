"""The time of a short command, beside that of starting Python with MongoDB's driver.

`python -m benchmarks.command_line` starts a MongoDB and runs `waylink organization list` and an import of the
driver in turns. The processor time should be at most twice the driver's; the wall time 0.4 s on a machine
that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.replica_set import replica_set

_COMMAND = (sys.executable, "-m", "backend.cli", "organization", "list")
_DRIVER = (sys.executable, "-c", "import motor.motor_asyncio")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--runs", type=int, default=20, help="how often each is run")
    runs = options.parse_args().runs
    with (
        tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder,
        replica_set(Path(folder), 1) as server,
    ):
        environment = os.environ | {"WAYLINK_MONGODB_URI": server.uri, "WAYLINK_DATA_DIR": folder}
        _run(_COMMAND, environment)  # makes the indexes
        taken = [(_run(_COMMAND, environment), _run(_DRIVER, environment)) for _ in range(runs)]
    for place, what in enumerate(("processor time", "wall time")):
        command = statistics.median(ours[place] for ours, _ in taken)
        driver = statistics.median(drivers[place] for _, drivers in taken)
        print(f"{what}: a command {command:.3f} s, the driver {driver:.3f} s, ratio {command / driver:.2f}")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Processor seconds and seconds that it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


if __name__ == "__main__":
    main()
