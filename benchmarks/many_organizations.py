"""What one organization's work takes from others on a host: an hour of questions, loads and erasures.

`python -m benchmarks.many_organizations` starts a MongoDB with thirty organizations, one of which has twenty
million clicks. For an hour, all of them ask, are clicked, erase people, and keep data for other times than
before; their files are deleted now and then, so that they are made anew. It prints how long answers took, by
what was asked and by whom, what those were told who got none, and whether the bytes of the files have
anything of the people that were erased. No answer may come after its deadline of five seconds, no 503 may
leave out that it passes, nobody's bytes may stay, and in the end each click is counted once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.visitors.persons import Subject
from backend.settings import Settings
from backend.storage.accounts.organizations import set_click_days, set_retention_days
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.files import FileQuestion
from backend.storage.analytics.messages import folder_in
from backend.storage.clicks import blocks
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.database import open_database
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales.batches import store_batches
from backend.system.clock import utc_now
from benchmarks.data.kept_year import Amounts, Year
from benchmarks.data.unequal_organizations import Owner, make_organizations
from benchmarks.measuring.analytics_process import AnalyticsProcess, until_ready
from benchmarks.measuring.asked_directly import questions
from benchmarks.measuring.told_answers import ToldAnswers
from tests.facts.clicks import ship
from tests.facts.sdk_batches import by_browser, call
from tests.storage.columns.hosts import CountClicks, files_with

_DEADLINE = 5.0
# A request that ends later than this has not kept its deadline, however busy the machine is.
_LATE = 5.5
_ASKING = 6
_DAY = timedelta(days=1)
_ROOT = Path(__file__).parents[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--organizations", type=int, default=30, help="how many share the host")
    parser.add_argument("--clicks", type=int, default=20_000_000, help="clicks of the largest of them")
    parser.add_argument("--minutes", type=float, default=60, help="how long they work")
    parser.add_argument("--seed", type=int, default=1, help="who asks what when; the same, the same order")
    asked = parser.parse_args()
    os.environ["PYTHONPATH"] = str(_ROOT)  # the process that answers needs the class of `CountClicks`
    asyncio.run(_measure(asked))


@dataclass(slots=True)
class _Host:
    """The host, its organizations, and what became of their requests."""

    database: Database
    settings: Settings
    large: Owner
    small: Sequence[Owner]
    until: datetime
    drawn: random.Random
    told: ToldAnswers = field(default_factory=ToldAnswers)
    erased: list[str] = field(default_factory=list)
    files_deleted: int = 0

    def anybody(self) -> Owner:
        """The large organization, half of the time, or one of the others."""
        return self.large if self.drawn.random() < 0.5 else self.drawn.choice(self.small)

    def anybody_small(self) -> Owner:
        """One of the others."""
        return self.drawn.choice(self.small)


async def _measure(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = Settings(mongodb_uri=server.uri, data_dir=Path(folder))
            async with open_database(settings) as database:
                until = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
                large, small = await make_organizations(database, asked.organizations, asked.clicks, until)
                drawn = random.Random(asked.seed)  # noqa: S311 - no secret is drawn
                host = _Host(database, settings, large, small, until, drawn)
                await _load(host)
                await _work(host, asked.minutes * 60)
                await _print(host, asked)


async def _load(host: _Host) -> None:
    """Have all facts put into columns, and print how long that takes."""
    analytics = Analytics(host.database, host.settings)
    seconds = await until_ready(analytics, host.large.org_id)
    small = await asyncio.gather(*(until_ready(analytics, owner.org_id) for owner in host.small))
    await analytics.close()
    print(f"loaded: the large one in {seconds:.1f} s, then the others in {max(small):.1f} s", flush=True)


async def _work(host: _Host, seconds: float) -> None:
    """Let all organizations work for so long."""
    ends = time.monotonic() + seconds
    works: list[tuple[Callable[[_Host, Analytics], Awaitable[None]], float]] = [
        *[(_ask, 0.05)] * _ASKING,
        (_click, 0.5),
        (_erase, 5),
        (_keep_shorter, 20),
        (_delete_a_file, 15),
        (_delete_the_large_file, seconds / 3),
        (_keep_up, 60),
    ]
    clients = [Analytics(host.database, host.settings) for _ in range(2)]  # as two workers have
    async with asyncio.TaskGroup() as working:
        for number, (work, pause) in enumerate(works):
            working.create_task(_again(host, clients[number % 2], work, pause, ends))
        while (left := ends - time.monotonic()) > 0:
            print(f"\r  {left:4.0f} s left, {host.told.count:,} asked", end=" " * 10, flush=True)
            await asyncio.sleep(1)
    for client in clients:
        await client.close()
    print("\r", end=" " * 50 + "\r")


async def _again(
    host: _Host,
    analytics: Analytics,
    work: Callable[[_Host, Analytics], Awaitable[None]],
    pause: float,
    ends: float,
) -> None:
    while (left := ends - time.monotonic()) > 0:
        await asyncio.sleep(min(pause * host.drawn.uniform(0.5, 1.5), left))
        await work(host, analytics)


async def _ask(host: _Host, analytics: Analytics) -> None:
    owner = host.anybody()
    year = Year(host.database, host.settings, owner.org_id, Amounts(), host.until)
    kinds = questions(year, host.drawn.choice(owner.link_ids))
    kind = host.drawn.choice(list(kinds))
    question = kinds[kind].question
    name = f"{'large' if owner is host.large else 'small'}: {kind}"
    is_export = isinstance(question, FileQuestion)
    began, reason = time.monotonic(), None
    try:
        if isinstance(question, FileQuestion):
            async with analytics.file(owner.org_id, question):
                pass
        else:
            with deadline(_DEADLINE):
                await analytics.ask(owner.org_id, question)
    except StorageError as error:
        reason = str(error)
    seconds = time.monotonic() - began
    host.told.note(name, seconds, reason, is_late=seconds > _LATE and not is_export)


async def _click(host: _Host, analytics: Analytics) -> None:
    owner = host.anybody()
    await ship(host.database, owner.some_clicks(host.drawn, 50, utc_now(), 0.001))


async def _erase(host: _Host, analytics: Analytics) -> None:
    """Have somebody identified, let that get into the columns, and erase who it was."""
    owner, name = host.anybody(), f"erased-{uuid.uuid4().hex}"
    identified = call("identify", customer_id=name)
    told = by_browser(owner.org_id, DeviceId(str(uuid.uuid4())), "spring", identified)
    await store_batches(host.database, [told])
    with suppress(StorageError), deadline(_DEADLINE):
        await analytics.ask(owner.org_id, CountClicks())
    await erase_subject(host.database, owner.org_id, Subject(customer_id=CustomerId(name)))
    host.erased.append(name)


async def _keep_shorter(host: _Host, analytics: Analytics) -> None:
    """Keep data of visitors, and single clicks, for another time than before."""
    owner, days = host.anybody(), host.drawn.randrange(30, 300)
    await set_retention_days(host.database, owner.org_id, days)
    owner = host.anybody_small()
    await set_click_days(host.database, owner.org_id, host.drawn.randrange(32, 60))
    await sum_expired(host.database, owner.org_id, utc_now())


async def _delete_a_file(host: _Host, analytics: Analytics) -> None:
    host.files_deleted += 1
    AnalyticsProcess(host.settings.data_dir).delete_files(host.anybody_small().org_id)


async def _delete_the_large_file(host: _Host, analytics: Analytics) -> None:
    host.files_deleted += 1
    AnalyticsProcess(host.settings.data_dir).delete_files(host.large.org_id)


async def _keep_up(host: _Host, analytics: Analytics) -> None:
    with suppress(StorageError):
        await analytics.keep_up()


async def _print(host: _Host, asked: argparse.Namespace) -> None:
    print(
        f"{asked.organizations} organizations, one with {asked.clicks:,} clicks, {asked.minutes:g} minutes; "
        f"{len(host.erased):,} people erased, {host.files_deleted} files deleted:"
    )
    host.told.print()
    process = AnalyticsProcess(host.settings.data_dir)
    analytics = Analytics(host.database, host.settings)
    wrong = [owner for owner in (host.large, *host.small) if not await _counts_all(host, analytics, owner)]
    print(f"  memory of the process: {process.most_megabytes:.0f} MB at the most since it was started last")
    seconds = await _kept_up(analytics)
    folder = folder_in(host.settings.data_dir)
    left = [name for name in host.erased if files_with(folder, name.encode())]
    print(f"  files kept up {seconds:.0f} s later; bytes of erased people left: {len(left)} (target: 0)")
    print(f"  organizations with another number of clicks than MongoDB: {len(wrong)} (target: 0)")
    await analytics.close()


async def _counts_all(host: _Host, analytics: Analytics, owner: Owner) -> bool:
    """Whether each click is in the columns once."""
    await until_ready(analytics, owner.org_id)
    stored = {"$match": {"org_id": owner.org_id}}, {"$group": {"_id": None, "clicks": {"$sum": "$clicks"}}}
    in_blocks = await host.database[blocks.NAME].aggregate(list(stored)).to_list(None)
    in_sums = await host.database["click_summaries"].aggregate(list(stored)).to_list(None)
    clicks = sum(found["clicks"] for found in (*in_blocks, *in_sums))
    return bool(clicks == await analytics.ask(owner.org_id, CountClicks()))


async def _kept_up(analytics: Analytics) -> float:
    """Have the files kept up, as each minute does, until nothing is left to do. Returns the seconds."""
    began, asked_at = time.monotonic(), utc_now()
    while (kept_up_at := analytics.kept_up_at()) is None or kept_up_at < asked_at:
        with suppress(StorageError):
            await analytics.keep_up()
        print(f"\r  {time.monotonic() - began:4.0f} s until the files are kept up", end="", flush=True)
        await asyncio.sleep(1)
    print("\r", end=" " * 50 + "\r")
    return time.monotonic() - began


if __name__ == "__main__":
    main()
