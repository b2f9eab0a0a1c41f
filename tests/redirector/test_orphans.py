"""Orphan visits that wait for the database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime

from backend.domain.domains.orphans import NotKept
from backend.domain.domains.settings import LinkDomain
from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.orphans import OrphanVisits
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.visit import Visit
from backend.storage.driver.mongo import Database
from backend.storage.links import orphans
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

AT = datetime(2026, 11, 26, tzinfo=UTC)
BROWSER = Client(ClientKind.BROWSER, Platform.DESKTOP, "", "", follows_intents=False)


def note(visits: OrphanVisits, of: TestOrganization, path: str = "sprng") -> None:
    """Somebody asks the organization's domain for what no link has."""
    visit = Visit(
        {
            "method": "GET", "path": f"/{path}", "raw_path": f"/{path}".encode(), "query_string": b"",
            "headers": [(b"host", of.domain.encode())],
        },
        {of.domain: LinkDomain(of.id)},
    )  # fmt: skip
    visits.note(visit, Arrival(BROWSER, AT, "", None))


async def counted(database: Database, of: TestOrganization) -> dict[str, int]:
    """The stored visits of the organization's domain, by path; and those of scanners."""
    start, end = date(2026, 11, 26), date(2026, 11, 27)
    found = await orphans.find_orphans(database, of.id, of.domain, start, end)
    visits = {orphan.path: orphan.visits for orphan in found.orphans}
    return visits | {reason.value: visits for reason, visits in found.not_kept.items()}


@asynccontextmanager
async def refused(database: Database, document_id: dict[str, str]) -> AsyncIterator[None]:
    """A block in which the collection takes no documents with ids like this."""
    await database.command("collMod", orphans.NAME, validator={"_id": {"$not": document_id}})
    try:
        yield
    finally:
        await database.command("collMod", orphans.NAME, validator={})


async def test_what_fails_keeps_nothing_else_from_being_stored(
    database: Database, make_organization: OrganizationFactory
) -> None:
    """Where one organization's visits can't be stored, another's are, once; and those of the first once they
    can be, each once, with those that came meanwhile."""
    failing, whole = await make_organization(), await make_organization()
    visits = OrphanVisits(database)
    for organization in (failing, whole):  # in both orders: a failure is between two that are stored
        note(visits, organization)
    async with refused(database, {"$regex": f"^{failing.id}/.*/sprng"}):
        for _ in range(2):
            note(visits, failing)
            note(visits, failing, "wp-login.php")
            note(visits, whole)
            await visits.store()
            assert await counted(database, failing) == {}
    assert await counted(database, whole) == {"sprng": 3}
    await visits.store()
    await visits.store()
    assert await counted(database, failing) == {"sprng": 3, NotKept.PROBE.value: 2}
    assert await counted(database, whole) == {"sprng": 3}
