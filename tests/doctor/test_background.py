"""What doctor and the metrics say of background work that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from prometheus_client import REGISTRY

from backend.doctor.background import examine_background, examined, readable
from backend.domain.finding import Area, Finding, Severity
from backend.operations.failing_items import items_that_fail
from backend.storage.accounts.organizations import NAME, organization_items
from backend.storage.driver.mongo import Database
from backend.storage.processes.failing_items import note_failure
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import WorkItem, item_of_organization
from tests.conftest import OrganizationFactory
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database


@pytest.fixture
async def own_database(database: Database) -> AsyncIterator[Database]:
    """A database in which no service works."""
    async with fresh_database(database) as fresh:
        yield fresh


async def found(findings: AsyncIterator[Finding]) -> list[tuple[Severity, str, str]]:
    """What was found, without the advice."""
    listed = [finding async for finding in findings]
    assert {finding.area for finding in listed} <= {Area.BACKGROUND}
    return [(finding.severity, finding.subject, finding.message) for finding in listed]


async def test_each_item_that_fails_is_named(
    own_database: Database, make_organization: OrganizationFactory
) -> None:
    """With its organization, since when and why; of one organization only its own."""
    one, other = await make_organization(), await make_organization()
    [(severity, _, message)] = await found(examine_background(own_database, None))
    assert (severity, message) == (Severity.OK, "Background work fails for none of its items.")
    mail = WorkItem("mail", one.id, lambda: None)
    for _ in range(2):
        await note_failure(own_database, Work.MAILS, mail, "KeyError: attempts")
    await note_failure(own_database, Work.LEDGER, item_of_organization(other.id), "ValueError")
    all_of_them = await found(examine_background(own_database, None))
    assert [subject for _, subject, _ in all_of_them] == [
        f"sending mails: mail of {one.id}",
        f"signing days of the ledger: {other.id}",
    ]
    [(severity, _, message)] = await found(examine_background(own_database, one.id))
    assert severity is Severity.ERROR
    assert message.startswith("It failed 2 times since 20")
    assert ": KeyError: attempts. It is tried again after " in message
    assert await found(examine_background(own_database, other.id)) == all_of_them[1:]


async def test_how_many_fail_is_a_metric(own_database: Database) -> None:
    """Of each work, also where none fails any more."""

    async def failing(work: Work) -> float | None:
        await items_that_fail(own_database)()
        return REGISTRY.get_sample_value("waylink_failing_items", {"work": work.value})

    assert await failing(Work.ARCHIVES) == 0
    await note_failure(own_database, Work.ARCHIVES, WorkItem("archive", None, lambda: None), "ValueError")
    assert await failing(Work.ARCHIVES) == 1
    assert await failing(Work.ALERTS) == 0
    await own_database["failing_items"].delete_many({})
    assert await failing(Work.ARCHIVES) == 0


async def test_what_can_not_be_read_keeps_nothing_else_from_being_examined(own_database: Database) -> None:
    """It is a finding itself."""
    damaged, whole = [await create_test_organization(own_database, name) for name in ("One", "Two")]
    await own_database[NAME].update_one({"_id": damaged.id}, {"$unset": {"created_at": ""}})
    organizations, findings = readable(await organization_items(own_database))
    assert [organization.id for organization in organizations] == [whole.id]
    assert [(finding.severity, finding.subject) for finding in findings] == [(Severity.ERROR, damaged.id)]

    async def fails_in_the_middle() -> AsyncIterator[Finding]:
        yield findings[0]
        raise KeyError("kind")

    [_, (_, subject, message)] = await found(examined("Two", fails_in_the_middle()))
    assert subject == "Two"
    assert "KeyError: kind" in message
