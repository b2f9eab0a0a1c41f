"""The kinds of links of a domain: those of a kind do the same when they are tapped."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.links import NAME, STAYS_IN_BROWSER, from_document

MOST_LINKS = 100_000  # are looked at: more would take longer than people wait for a page
_EXISTS = {
    "ios_fallback": "$fallbacks.ios_fallback_url",
    "android_fallback": "$fallbacks.android_fallback_url",
    "rule": {"$first": "$rules"},
    **{name: f"${name}" for limit in STAYS_IN_BROWSER for name in limit},
}


@dataclass(frozen=True, slots=True)
class LinkKind:
    """How many links there are of a kind, and one of them."""

    count: int
    example: Link


async def list_kinds(database: Database, domain: str) -> list[LinkKind]:
    """The kinds of a domain's enabled links, most links first; of its first MOST_LINKS only."""
    has = {name.replace(".", "_"): {"$gt": [value, None]} for name, value in _EXISTS.items()}
    behaviors = {name: f"${name}" for name in ("ios_behavior", "android_behavior")}
    found = (
        await database[NAME]
        .aggregate(
            [
                {"$match": {"domain": domain, "is_enabled": True, "hold": None}},
                {"$limit": MOST_LINKS},
                {"$group": {"_id": behaviors | has, "count": {"$sum": 1}, "example": {"$first": "$$ROOT"}}},
                {"$sort": {"count": -1}},
            ]
        )
        .to_list(None)
    )
    return [LinkKind(kind["count"], from_document(kind["example"])) for kind in found]
