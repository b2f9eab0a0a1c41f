"""How fast an organization's facts are put into columns, for the benchmark of questions."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from backend.storage.analytics.client import Analytics
from backend.storage.columns.loading import load
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from benchmarks.data.kept_year import Year, target
from benchmarks.ingest import mongod_pid
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready
from benchmarks.measuring.servers import cpu_seconds_of

MOST_MEGABYTES = "300 at most"
_A_SECOND = "300,000"


class _Seen(NamedTuple):
    """The clicks that are in columns at a time, and the processor time that was used until then."""

    clicks: int
    at: float
    used: float
    of_mongodb: float


async def print_loading(year: Year) -> None:
    """Print how fast clicks go into columns, beside nothing else of the organization."""
    mongod = mongod_pid(year.settings.data_dir / "mongodb")
    seen: list[_Seen] = []

    def note(clicks: int) -> None:
        seen.append(_Seen(clicks, time.monotonic(), time.process_time(), cpu_seconds_of(mongod)))
        print(f"\r  {clicks:,} clicks in columns", end="", flush=True)

    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        settings = year.settings
        store = ColumnStore(Path(folder), EngineBounds(settings.analytics_memory, settings.analytics_threads))
        files = store.attach(year.org_id, datetime.now(UTC))
        await load(year.database, year.org_id, files.written(), note)
        files.close()
        store.close()
    if len(seen) > 1:
        _print(year, seen[0], seen[-1])  # the first part is there when the clock begins


def _print(year: Year, first: _Seen, last: _Seen) -> None:
    clicks, seconds, used, of_mongodb = (after - before for before, after in zip(first, last, strict=True))
    print(
        f"\r  clicks into columns: {clicks / seconds:,.0f} a second{target(year, _A_SECOND)}, "
        f"{clicks / used:,.0f} in one of processor time, beside {of_mongodb / used:.2f} of MongoDB's",
        flush=True,
    )


async def print_making(year: Year) -> None:
    """Let the process make the organization's file anew, and print what that takes."""
    process = AnalyticsProcess(year.settings.data_dir)
    process.delete_files(year.org_id)
    analytics = Analytics(year.database, year.settings)
    seconds = await until_ready(analytics, year.org_id)
    used, megabytes = process.cpu_seconds, process.most_megabytes
    await analytics.close()
    await process.until_gone()
    sizes = [path.stat().st_size / 1e6 for path in process.files(year.org_id)]
    print(
        f"  all facts into columns: {seconds:.1f} s, {used:.1f} s of processor time; memory "
        f"{megabytes:.0f} MB at the most{target(year, MOST_MEGABYTES)}; {len(sizes)} files of "
        f"{sum(sizes):.0f} MB",
        flush=True,
    )
