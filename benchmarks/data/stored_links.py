"""Links for the benchmarks, stored in bulk."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.accounts import domains, organizations
from backend.storage.driver.mongo import Database
from benchmarks.measuring.wrk import HOST
from tests.facts.stored_links import insert_links

_LINKS_PER_WRITE = 5_000
# Links with numbers that differ by so many have the same one.
CAMPAIGNS = 300


async def prepare_domain(database: Database) -> str:
    """Store an organization with the benchmarks' domain. Returns the organization's id."""
    now = datetime.now(UTC)
    org_id = (await organizations.create_organization(database, "Bench", now)).id
    await domains.insert_domain(database, HOST, org_id, now)
    return org_id


async def store_links(database: Database, org_id: OrgId, start: int, end: int) -> None:
    """Store links with the paths `kites/<start>` to `kites/<end - 1>`."""
    for first in range(start, end, _LINKS_PER_WRITE):
        last = min(end, first + _LINKS_PER_WRITE)
        await insert_links(database, [new_link(org_id, number) for number in range(first, last)])
        print(f"\r  {last:,} links stored", end="", flush=True)
    print("\r", end="")


def new_link(org_id: OrgId, number: int) -> Link:
    """A link with the fields that most links have."""
    now = datetime.now(UTC)
    return Link(
        LinkId(str(uuid.uuid4())),
        org_id,
        HOST,
        path_of(number),
        f"https://shop.example/kites/{number}?size=large",
        f"Kite {number}",
        now,
        now,
        utm={"utm_source": "newsletter", "utm_campaign": f"campaign-{number % CAMPAIGNS}"},
    )


def path_of(number: int) -> str:
    """The path of the link with this number."""
    return f"kites/{number}"
