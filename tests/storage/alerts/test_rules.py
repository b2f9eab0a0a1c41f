"""Changes of an alert rule while somebody else changes it."""

from __future__ import annotations

from functools import partial

from backend.domain.alerts.rule import AlertKind
from backend.domain.alerts.thresholds import FACTOR, LEAST
from backend.storage.alerts.rules import change_rule, create_rule, get_rule
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization


async def test_two_change_thresholds_at_once(organization: TestOrganization, database: Database) -> None:
    """Each changes the one that they gave, whichever comes between steps of the other."""
    given = {"name": "Spikes", "kind": AlertKind.SPIKE}
    async for moment in moments(database):
        rule = await create_rule(database, organization.id, given, utc_now())
        work = change_rule(moment.database, organization.id, rule.id, {"thresholds": {FACTOR: 7}})
        others = partial(change_rule, database, organization.id, rule.id, {"thresholds": {LEAST: 70}})
        await moment.interrupt(work, others)
        changed = await get_rule(database, organization.id, rule.id)
        assert changed.thresholds == {FACTOR: 7, LEAST: 70 if moment.came else rule.thresholds[LEAST]}
