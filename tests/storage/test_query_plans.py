"""How MongoDB carries out the queries of the REST API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from backend.domain.analytics import buckets_of_windows
from backend.storage import (
    api_keys,
    click_counts,
    domains,
    installs,
    links,
    organizations,
    origins,
    sessions,
    users,
)
from backend.storage.mongo import Database

ORG = {"org_id": "o"}
NEWEST_FIRST = dict(links.NEWEST_FIRST)
QUERIES: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "a page of links": (links.NAME, ORG, NEWEST_FIRST),
    "a page of links of one kind of key": (links.NAME, ORG | {"created_by": "api_rest"}, NEWEST_FIRST),
    "a link by id": (links.NAME, {"_id": "x"} | ORG, {}),
    "a link by short URL": (links.NAME, {"domain": "d", "path": "p"} | ORG, {}),
    "a key": (api_keys.NAME, {"key_hash": "h", "revoked_at": None}, {}),
    "the keys of an organization": (api_keys.NAME, ORG, {"created_at": 1}),
    "the domains of an organization": (domains.NAME, ORG, {"_id": 1}),
    "the origins of an organization": (origins.NAME, ORG, {"origin": 1}),
    "users by address": (users.NAME, {"email": "e"}, {}),
    "users of an organization": (users.NAME, {"org_ids": "o"}, {"email": 1}),
    "a session": (sessions.NAME, {"_id": "h", "expires_at": {"$gt": datetime(2026, 1, 1, tzinfo=UTC)}}, {}),
    "the sessions of a user": (sessions.NAME, {"user_id": "u"}, {}),
    "a search in links": (links.NAME, links.with_text("o", "spring"), NEWEST_FIRST),
    "an organization by name": (organizations.NAME, {"name": "n"}, {"created_at": 1}),
    "the installs of an organization": (installs.NAME, ORG, {"at": 1}),
    "counts of a link": (
        click_counts.NAME,
        {"_id": {"$in": sorted(buckets_of_windows(datetime(2026, 1, 1, tzinfo=UTC)))}},
        {},
    ),
}


def stages(plan: object) -> Iterator[str]:
    """The names of a plan's stages."""
    if isinstance(plan, dict):
        if "stage" in plan:
            yield str(plan["stage"])
        for inner in plan.values():
            yield from stages(inner)
    elif isinstance(plan, list):
        for inner in plan:
            yield from stages(inner)


@pytest.mark.parametrize("name", QUERIES)
async def test_no_query_reads_a_whole_collection(database: Database, name: str) -> None:
    """Every query goes over an index."""
    collection, wanted, order = QUERIES[name]
    find: dict[str, Any] = {"find": collection, "filter": wanted} | ({"sort": order} if order else {})
    plan = (await database.command("explain", find, verbosity="queryPlanner"))["queryPlanner"]["winningPlan"]
    assert "COLLSCAN" not in set(stages(plan))


@pytest.mark.parametrize(
    "name", ["a page of links", "a page of links of one kind of key", "a search in links"]
)
async def test_pages_of_links_are_not_sorted_in_memory(database: Database, name: str) -> None:
    """A page costs its own length, not the number of links: the index has the order."""
    collection, wanted, order = QUERIES[name]
    plan = await database.command("explain", {"find": collection, "filter": wanted, "sort": order})
    assert "SORT" not in set(stages(plan["queryPlanner"]["winningPlan"]))
