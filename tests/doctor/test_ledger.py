"""What is found of the ledger: days that are not signed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend.doctor.ledger import examine_ledger
from backend.domain.finding import Severity
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.ledger.statement_signing import sign_days
from backend.system.clock import utc_now
from tests.cli.archives.test_verify import TODAY, database, store
from tests.facts.organizations import create_test_organization

__all__ = ["database"]


async def test_a_day_that_is_not_signed(database: Database) -> None:
    """It is an error an hour after the day's end, and not before, nor once the day is signed."""
    organization = await get_organization(database, (await create_test_organization(database)).id)
    midnight = datetime.combine(TODAY, datetime.min.time(), UTC)

    async def severity(now: datetime) -> Severity:
        return (await examine_ledger(database, organization, now)).severity

    assert await severity(utc_now()) is Severity.OK
    await store(database, organization.id, 1, "a", 0, 1)
    assert await severity(midnight + timedelta(minutes=50)) is Severity.OK
    finding = await examine_ledger(database, organization, midnight + timedelta(minutes=70))
    assert finding.severity is Severity.ERROR
    assert f"{TODAY - timedelta(days=1)}" in finding.message
    await sign_days(database, organization.id, TODAY)
    assert await severity(midnight + timedelta(minutes=70)) is Severity.OK
