"""Calls per second that the batch endpoint stores, compared with an empty POST on the same ASGI server.

`python -m benchmarks.ingest` measures this on Hypercorn, and on Granian if it is installed, each with one
worker process. It starts a MongoDB, the empty app and the service. wrk sends them the same requests over 64
connections, by turns, so that noise affects all alike: with one call each, as browsers send them, with 10,
and with 50. Every call has a new id, and a device sends five requests. It prints medians of rates, their
ratios to the empty POST, which are what counts, and the processor time of a call. At the end it counts what
is stored: every call that was answered, and maybe some whose answers wrk did not wait for.

On a machine with two or more cores, the servers have a core of their own, and wrk and MongoDB the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from backend.domain.accounts.api_keys import KeyKind
from backend.settings import Settings
from backend.storage.accounts import api_keys, organizations, origins
from backend.storage.database import open_database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.visitors import events
from benchmarks.measuring.cores import leave_a_core
from benchmarks.measuring.servers import Server, cpu_seconds_of, empty_app, installed_servers, service
from benchmarks.measuring.spread import spread
from benchmarks.measuring.wrk import Run, post, require_wrk

BATCH_SIZES = (1, 10, 50)
ORIGIN = "https://shop.example"
SCRIPT = Path(__file__).with_name("batches.lua")
PATH = "/serviceCore/sdk/v1/batch"
# All senders share one address and one key, unlike those of a real site.
NO_LIMITS = {"WAYLINK_ADDRESS_CALL_LIMIT": "1000000000", "WAYLINK_KEY_CALL_LIMIT": "1000000000"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of wrk: what it says, and the processor time that servers and MongoDB used for each answer, in
    seconds.
    """

    run: Run
    of_server: float
    of_mongodb: float


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    servers = installed_servers()
    options.add_argument("--seconds", type=int, default=3, help="how long each measurement takes")
    options.add_argument("--rounds", type=int, default=7, help="how many measurements of each, 2 at least")
    options.add_argument("--server", choices=servers, action="append", help="measure on this one only")
    options.add_argument(
        "--one-call", action="store_true", help="only requests of one call, which is a quarter of the time"
    )
    arguments = options.parse_args()
    require_wrk()
    core = leave_a_core()
    sizes = BATCH_SIZES[:1] if arguments.one_call else BATCH_SIZES
    for server in arguments.server or servers:
        asyncio.run(_measure(server, arguments.seconds, max(2, arguments.rounds), sizes, core))


async def _measure(server: str, seconds: int, rounds: int, sizes: Sequence[int], core: int | None) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as name:
        folder = Path(name)
        async with EmbeddedMongoDB(folder / "mongodb") as mongodb:
            settings = replace(Settings(), mongodb_uri=mongodb.uri, data_dir=folder)
            key = await _site(settings)
            with empty_app(server) as empty, service(server, folder, mongodb.uri, **NO_LIMITS) as ours:
                if core is not None:
                    empty.move_to(core)
                    ours.move_to(core)
                print(f"{server}:")
                bench = _Bench(key, seconds, mongod_pid(folder / "mongodb"))
                first = await bench.measure(ours, 1)  # fills caches
                runs = []
                for number in range(rounds):
                    print(f"\r  round {number + 1} of {rounds}", end="", flush=True)
                    runs.append([await bench.measure(empty, 1)])
                    runs[-1] += [await bench.measure(ours, size) for size in sizes]
                _report(runs, sizes)
                errors = sum(measured.run.errors for measurements in runs for measured in measurements)
                if errors:
                    print(f"  {errors:,} answers were errors: MongoDB was too slow on this machine")
                sent = [
                    (first, 1),
                    *(pair for measured in runs for pair in zip(measured[1:], sizes, strict=True)),
                ]
                await _report_stored(settings, sum(measured.run.answers * size for measured, size in sent))


def mongod_pid(folder: Path) -> int:
    """The process of the MongoDB server that keeps its data in this folder."""
    return int(next(folder.rglob("mongod.lock")).read_text())


class _Bench:
    """Sends batches with this web key for some seconds at a time."""

    def __init__(self, key: str, seconds: int, mongodb: int) -> None:
        self._key = key
        self._seconds = seconds
        self._mongodb = mongodb

    async def measure(self, server: Server, size: int) -> Measured:
        """Send batches of this many calls to a server."""
        before = server.cpu_seconds, cpu_seconds_of(self._mongodb)
        arguments = (self._key, ORIGIN, str(size), str(secrets.randbelow(2**31)))
        run = await post(server.url + PATH, self._seconds, SCRIPT, *arguments)
        return Measured(
            run,
            (server.cpu_seconds - before[0]) / max(1, run.answers),
            (cpu_seconds_of(self._mongodb) - before[1]) / max(1, run.answers),
        )


def _report(runs: Sequence[Sequence[Measured]], sizes: Sequence[int]) -> None:
    _print_line("empty POST", [measured[0] for measured in runs], 1)
    for place, size in enumerate(sizes, 1):
        ours = [measured[place] for measured in runs]
        _print_line(f"{size} call{'s' * (size > 1)} a request", ours, size)
        ratios = [measured[place].run.rate * size / measured[0].run.rate for measured in runs]
        target = " (target on Hypercorn: 0.5 at least)" if size == 1 else ""
        print(f"    calls to empty POSTs {spread(ratios)}{target}")


def _print_line(name: str, measured: Sequence[Measured], size: int) -> None:
    rate = statistics.median(measurement.run.rate for measurement in measured) * size
    p99 = statistics.median(measurement.run.p99 for measurement in measured)
    of_server = statistics.median(measurement.of_server for measurement in measured) / size * 1000
    of_mongodb = statistics.median(measurement.of_mongodb for measurement in measured) / size * 1000
    print(
        f"\r  {name:<19} {rate:8,.0f}/s  p99 {p99:6.1f} ms  processor time {of_server:.3f} ms, "
        f"MongoDB's {of_mongodb:.3f} ms",
        flush=True,
    )


async def _report_stored(settings: Settings, answered: int) -> None:
    async with open_database(settings) as database:
        stored = await database[events.NAME].count_documents({})
    print(f"  calls answered {answered:,}, stored {stored:,}")


async def _site(settings: Settings) -> str:
    """A web key of a new organization that allows an origin."""
    now = datetime.now(UTC)
    async with open_database(settings) as database:
        org_id = (await organizations.create_organization(database, "Benchmark", now)).id
        await origins.add_origin(database, ORIGIN, org_id, now)
        return (await api_keys.create_api_key(database, org_id, KeyKind.WEB, now))[0]


if __name__ == "__main__":
    main()
