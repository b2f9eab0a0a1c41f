"""An organization's links and a year of clicks, made once and kept in a folder for the next runs.

To make 40,000 links with five million clicks takes minutes; to measure them, seconds.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from backend.clock import utc_now
from backend.domain.ids import OrgId
from backend.settings import Settings
from backend.storage import links
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from benchmarks.stored_links import prepare_domain, store_links
from benchmarks.year_of_clicks import count_year
from demo_site.history.make import make_history


@dataclass(frozen=True, slots=True)
class Amounts:
    """What is made: links beside those of the demo's history, if that `has_history`, and their clicks.

    If these are even, each link has about as many as any other.
    """

    links: int
    clicks: int
    is_even: bool
    has_history: bool


@dataclass(frozen=True, slots=True)
class Year:
    """The running MongoDB that has it, and whose it is."""

    database: Database
    settings: Settings
    org_id: OrgId


@asynccontextmanager
async def kept_year(folder: Path, amounts: Amounts) -> AsyncIterator[Year]:
    """What was made in this folder before, or now. Raises SystemExit if that was something else."""
    made = folder / "made.json"
    found = json.loads(made.read_text()) if made.exists() else None
    if found is not None and found["amounts"] != asdict(amounts):
        raise SystemExit(f"{folder} has other data: {found['amounts']}")
    async with EmbeddedMongoDB(folder / "mongodb") as server:
        settings = Settings(mongodb_uri=server.uri, data_dir=folder)
        async with open_database(settings) as database:
            org_id = OrgId(found["org_id"]) if found else await _make(database, amounts)
            made.write_text(json.dumps({"org_id": org_id, "amounts": asdict(amounts)}))
            yield Year(database, settings, org_id)


async def _make(database: Database, amounts: Amounts) -> OrgId:
    org_id = OrgId(await prepare_domain(database))
    if amounts.links:
        await store_links(database, org_id, 0, amounts.links)
        ids = await database[links.NAME].distinct("_id", {"org_id": org_id})
        await count_year(database, org_id, ids, amounts.clicks, is_even=amounts.is_even)
    if amounts.has_history:
        await make_history(database, org_id, "https://shop.example", utc_now(), lambda *_: None)
    return org_id
