"""An organization's links with a year of clicks and sales, beside the demo's history of sixty days.

They are made once and kept in a folder for the next runs: to make 40,000 links with five million clicks and
100,000 sales takes minutes; to measure them, seconds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from backend.storage.links import links
from backend.system.clock import utc_now
from benchmarks.data.stored_links import prepare_domain, store_links
from benchmarks.data.year_of_clicks import ship_year
from benchmarks.data.year_of_sales import store_sales
from demo_site.history.make import make_history

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Amounts:
    """What is made beside the demo's history: links, their clicks of a year, and sales."""

    links: int = 40_000
    clicks: int = 5_000_000
    sales: int = 100_000

    def __str__(self) -> str:
        return f"{self.links:,} links, {self.clicks:,} clicks and {self.sales:,} sales of a year"


@dataclass(frozen=True, slots=True)
class Year:
    """The running MongoDB that has it, and whose it is. The year ends at `until`, which is a midnight."""

    database: Database
    settings: Settings
    org_id: OrgId
    amounts: Amounts
    until: datetime


def target(year: Year, words: str) -> str:
    """The target in words, for what is made unless somebody asks for something else."""
    return f" (target: {words})" if year.amounts == Amounts() else ""


def options(description: str) -> argparse.ArgumentParser:
    """The options that say what is made, and where it is kept."""
    default = Amounts()
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--links", type=int, default=default.links, help="beside those of the demo's history")
    parser.add_argument("--clicks", type=int, default=default.clicks, help="clicks of a year on them")
    parser.add_argument("--sales", type=int, default=default.sales, help="sales of that year")
    parser.add_argument("--data", type=Path, help="a folder that keeps the data for the next runs")
    return parser


@asynccontextmanager
async def kept_year(asked: argparse.Namespace) -> AsyncIterator[Year]:
    """What these options ask for, made before or now. Raises SystemExit if the folder has something else."""
    amounts = Amounts(asked.links, asked.clicks, asked.sales)
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as new:
        folder = _folder(asked.data or Path(new))
        async with EmbeddedMongoDB(folder / "mongodb") as server:
            settings = Settings(mongodb_uri=server.uri, data_dir=folder)
            async with open_database(settings) as database:
                yield await _year(database, settings, amounts)


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


async def _year(database: Database, settings: Settings, amounts: Amounts) -> Year:
    made = settings.data_dir / "made.json"
    until = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    if not made.exists():
        org_id = await _make(database, amounts, until)
        description = {"org_id": org_id, "amounts": asdict(amounts), "until": until.isoformat()}
        made.write_text(json.dumps(description))
        return Year(database, settings, org_id, amounts, until)
    description = json.loads(made.read_text())
    if description["amounts"] != asdict(amounts):
        raise SystemExit(f"{settings.data_dir} has other data: {Amounts(**description['amounts'])}")
    ended = datetime.fromisoformat(description["until"])
    if ended != until:
        print(f"The data in {settings.data_dir} ended {(until - ended) // _DAY} days ago.")
    return Year(database, settings, OrgId(description["org_id"]), amounts, ended)


async def _make(database: Database, amounts: Amounts, until: datetime) -> OrgId:
    org_id = OrgId(await prepare_domain(database))
    visits = []
    await store_links(database, org_id, 0, amounts.links)
    if amounts.clicks:
        ids = await database[links.NAME].distinct("_id", {"org_id": org_id})
        visits = await ship_year(database, org_id, ids, amounts.clicks, until)
    await store_sales(database, org_id, amounts.sales, until, visits)
    await make_history(database, org_id, "https://shop.example", utc_now(), _say)
    return org_id


def _say(done: int, of: int) -> None:
    print(f"\r  {done} of {of} days of the demo's history stored", end="\r" * (done == of), flush=True)
