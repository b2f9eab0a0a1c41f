"""What is written so that no byte stays of what was deleted: of a person, and of the single clicks of a day.

`python -m benchmarks.erased_bytes` starts a MongoDB with a year of clicks, and lets the process that answers
questions put them into columns. Then it erases a person, and adds up the clicks of the oldest day that has
single ones. It prints for each how long the work of the hour took, how many bytes the process wrote, and how
large the files are that were written anew, of all that the organization has.
"""

from __future__ import annotations

import argparse
import asyncio
import time
import uuid
from datetime import timedelta
from pathlib import Path

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.client import Analytics
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales.batches import store_batches
from backend.system.clock import utc_now
from benchmarks.data.kept_year import Year, kept_year, options
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready
from tests.facts.sdk_batches import by_browser, call


def main() -> None:
    """Measure and print."""
    asyncio.run(_measure(options(__doc__.partition("\n")[0]).parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    async with kept_year(asked) as year:
        print(f"{year.amounts}:", flush=True)
        analytics = Analytics(year.database, year.settings)
        await until_ready(analytics, year.org_id)
        await _kept_up(analytics)
        for name, delete in (("a person is erased", _erase), ("a day is added up", _add_up)):
            await delete(year, analytics)
            await until_ready(analytics, year.org_id)
            await _print(year, analytics, name)
        await analytics.close()


async def _erase(year: Year, analytics: Analytics) -> None:
    name = f"erased-{uuid.uuid4().hex}"
    told = by_browser(year.org_id, DeviceId(str(uuid.uuid4())), "spring", call("identify", customer_id=name))
    await store_batches(year.database, [told])
    await until_ready(analytics, year.org_id)
    await erase_subject(year.database, year.org_id, Subject(customer_id=CustomerId(name)))


async def _add_up(year: Year, analytics: Analytics) -> None:
    oldest = await year.database["click_blocks"].find_one({"org_id": year.org_id}, sort=[("last_at", 1)])
    assert oldest
    days = (utc_now() - oldest["last_at"]) // timedelta(days=1)
    await set_click_days(year.database, year.org_id, days)
    clicks = await sum_expired(year.database, year.org_id, utc_now())
    print(f"  clicks added up: {clicks:,}")


async def _kept_up(analytics: Analytics) -> float:
    """Have the files kept up. Returns the seconds."""
    began, asked_at = time.monotonic(), utc_now()
    while (kept_up_at := analytics.kept_up_at()) is None or kept_up_at < asked_at:
        await analytics.keep_up()
    return time.monotonic() - began


async def _print(year: Year, analytics: Analytics, name: str) -> None:
    process = AnalyticsProcess(year.settings.data_dir)
    before, written_before = _files(year), _written(process.pid)
    seconds = await _kept_up(analytics)
    after, written = _files(year), _written(process.pid) - written_before
    anew = sum(size for inode, size in after.items() if inode not in before)
    print(
        f"  {name}: {seconds:.2f} s, {written / 1e6:.1f} MB written; anew are files of {anew / 1e6:.1f} MB "
        f"of {sum(after.values()) / 1e6:.1f} MB in {len(after)} files",
        flush=True,
    )


def _files(year: Year) -> dict[int, int]:
    """The sizes of the organization's files, by what the disk numbers them with."""
    found = [path.stat() for path in AnalyticsProcess(year.settings.data_dir).files(year.org_id)]
    return {file.st_ino: file.st_size for file in found}


def _written(pid: int | None) -> int:
    """The bytes that a process has had written."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("write_bytes")))


if __name__ == "__main__":
    main()
