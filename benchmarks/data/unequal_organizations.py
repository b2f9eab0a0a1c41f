"""One organization with very many clicks, and many with few, as they share a host."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.clicks.clicks import Click
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.storage.accounts.organizations import create_organization
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from benchmarks.data.stored_links import prepare_domain, store_links
from benchmarks.data.year_of_clicks import ship_year
from benchmarks.data.year_of_sales import store_sales
from tests.facts.clicks import click, ship

_LINKS, _FEW_LINKS = 5_000, 20
_SALES, _FEW_SALES = 20_000, 100
_FEW_CLICKS = 5_000
_DAYS = 60
_COUNTRIES = ("DE", "FR", "IT", "NL", "PL")


@dataclass(frozen=True, slots=True)
class Owner:
    """An organization and its links."""

    org_id: OrgId
    link_ids: Sequence[LinkId]

    def some_clicks(self, drawn: random.Random, count: int, until: datetime, days: float) -> list[Click]:
        """So many clicks on its links, at any times of the days before."""
        return [
            click(
                self.org_id,
                drawn.choice(self.link_ids),
                until - timedelta(days=drawn.random() * days),
                country=drawn.choice(_COUNTRIES),
                visitor=drawn.randrange(HIGHEST_HASH),
            )
            for _ in range(count)
        ]


async def make_organizations(
    database: Database, number: int, clicks: int, until: datetime
) -> tuple[Owner, list[Owner]]:
    """The organization with so many clicks of a year and sales, and the others, so many in all."""
    drawn = random.Random(number)  # noqa: S311 - no secret is drawn
    large = await _owner(database, OrgId(await prepare_domain(database)), 0, _LINKS)
    visits = await ship_year(database, large.org_id, large.link_ids, clicks, until)
    await store_sales(database, large.org_id, _SALES, until, visits)
    small = []
    for place in range(1, number):
        organization = await create_organization(database, f"Bench {place}", until)
        owner = await _owner(database, organization.id, _LINKS + place * _FEW_LINKS, _FEW_LINKS)
        await ship(database, owner.some_clicks(drawn, _FEW_CLICKS, until, _DAYS))
        await store_sales(database, owner.org_id, _FEW_SALES, until, [])
        small.append(owner)
    return large, small


async def _owner(database: Database, org_id: OrgId, first: int, count: int) -> Owner:
    await store_links(database, org_id, first, first + count)
    return Owner(org_id, await database[links.NAME].distinct("_id", {"org_id": org_id}))
