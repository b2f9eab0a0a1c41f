"""The time of short commands, beside that of starting Python with MongoDB's driver.

`python -m benchmarks.command_line` starts a MongoDB and runs `waylink organization list`, `waylink links
list` and an import of the driver in turns. The processor time should be at most twice the driver's; the wall
time 0.4 s on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.processes.replica_set import replica_set

_WAYLINK = (sys.executable, "-m", "backend.cli")
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
        commands = {
            "organization list": (*_WAYLINK, "organization", "list"),
            "links list": (*_WAYLINK, "links", "list", "--org", _new_organization(environment)),
            "the driver": _DRIVER,
        }
        taken = [
            {name: _run(command, environment) for name, command in commands.items()} for _ in range(runs)
        ]
    for place, what in enumerate(("processor time", "wall time")):
        medians = {name: statistics.median(times[name][place] for times in taken) for name in commands}
        driver = medians["the driver"]
        print(f"{what}: {', '.join(f'{name} {s:.3f} s ({s / driver:.2f})' for name, s in medians.items())}")


def _new_organization(environment: Mapping[str, str]) -> str:
    """Make an organization, and the indexes with it; its id."""
    command = (*_WAYLINK, "organization", "create", "Acme", "--json")
    done = subprocess.run(command, env=environment, check=True, capture_output=True)  # noqa: S603 - our own
    return str(json.loads(done.stdout)["id"])


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Processor seconds and seconds that it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


if __name__ == "__main__":
    main()
