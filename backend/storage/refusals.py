"""The `refusals` collection: the latest browser requests that an organization's origins kept out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import Database, known_fields
from backend.storage.ownership import ById

NAME = "refusals"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ById(),
    personal=NotPersonal("origins of sites, which are not visitors"),
    retention=NoRetention("only the latest hundred are kept"),
)
# One small document an organization, however many requests are refused.
KEPT = 100
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was refused: the Origin that it named, and why that was not enough."""

    origin: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RefusedOrigin:
    """What was refused of one origin ("" for none): how many of the latest requests, and the last of them."""

    origin: str
    requests: int
    last: Refusal


def by_origin(recent: Iterable[Refusal]) -> list[RefusedOrigin]:
    """One row for each origin of these refusals, which come newest first; so do the rows."""
    latest: dict[str, Refusal] = {}
    requests: Counter[str] = Counter()
    for each in recent:
        latest.setdefault(each.origin, each)
        requests[each.origin] += 1
    return [RefusedOrigin(origin, requests[origin], last) for origin, last in latest.items()]


async def add_refusal(database: Database, org_id: str, refusal: Refusal) -> None:
    """Remember a refusal, and forget the oldest beyond a hundred."""
    entry = {"origin": refusal.origin[:_LONGEST], "reason": refusal.reason, "at": refusal.at}
    await database[NAME].update_one(
        {"_id": org_id}, {"$push": {"recent": {"$each": [entry], "$slice": -KEPT}}}, upsert=True
    )


async def list_refusals(database: Database, org_id: str) -> list[Refusal]:
    """The latest refusals, newest first."""
    document: dict[str, Any] = await database[NAME].find_one({"_id": org_id}) or {}
    return [Refusal(**known_fields(entry, Refusal)) for entry in reversed(document.get("recent", []))]
