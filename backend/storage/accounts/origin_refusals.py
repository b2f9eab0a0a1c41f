"""The `refusals` collection: the latest browser requests that were refused because of their Origin header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, known_fields
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ById

NAME = "refusals"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ById(),
    personal=NotPersonal("origins of sites, which are not visitors"),
    retention=NoRetention("only the latest hundred are kept"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("one document an organization, of bounded size"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
# One small document an organization, however many requests are refused.
KEPT = 100
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class OriginRefusal:
    """A refused request: its Origin header ("" if it had none), and why it was not enough."""

    origin: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RefusedOrigin:
    """The refusals of one origin ("" for none): how many of the latest requests, and the last one."""

    origin: str
    requests: int
    last: OriginRefusal


def by_origin(recent: Iterable[OriginRefusal]) -> list[RefusedOrigin]:
    """One row for each origin in these refusals. Both the refusals and the rows are newest first."""
    latest: dict[str, OriginRefusal] = {}
    requests: Counter[str] = Counter()
    for refusal in recent:
        latest.setdefault(refusal.origin, refusal)
        requests[refusal.origin] += 1
    return [RefusedOrigin(origin, requests[origin], last) for origin, last in latest.items()]


async def add_origin_refusal(database: Database, org_id: OrgId, refusal: OriginRefusal) -> None:
    """Store a refusal. Only the organization's latest hundred are kept."""
    entry = {"origin": refusal.origin[:_LONGEST], "reason": refusal.reason, "at": refusal.at}
    await database[NAME].update_one(
        {"_id": org_id}, {"$push": {"recent": {"$each": [entry], "$slice": -KEPT}}}, upsert=True
    )


async def list_origin_refusals(database: Database, org_id: OrgId) -> list[OriginRefusal]:
    """The organization's latest refusals, newest first."""
    document: dict[str, Any] = await database[NAME].find_one({"_id": org_id}) or {}
    return [
        OriginRefusal(**known_fields(entry, OriginRefusal)) for entry in reversed(document.get("recent", []))
    ]
