"""One look at everything that an organization's alert rules are about."""

from __future__ import annotations

from datetime import datetime

from backend.domain.alerts.alert import Alert
from backend.domain.ids import OrgId
from backend.storage.alerts.alerts import end_unwatched
from backend.storage.alerts.firing import AlertChannels, tell
from backend.storage.alerts.rules import list_rules
from backend.storage.alerts.sources import AlertSources
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.mongo import Database


async def look(
    database: Database, analytics: Analytics, channels: AlertChannels, org_id: OrgId, now: datetime
) -> list[Alert]:
    """Look at what the organization's rules are about. Returns the alerts that were fired.

    A rule whose figures can't be told now is left for the next look: its alerts stay as they are. Those of
    a rule that was switched off or deleted are over.
    """
    sources = AlertSources(database, analytics, org_id, now)
    rules = [rule for rule in await list_rules(database, org_id) if rule.is_enabled]
    await end_unwatched(database, org_id, [rule.id for rule in rules], now)
    fired: list[Alert] = []
    for rule in rules:
        try:
            found = await sources.found(rule)
        except (FactsNotReady, NoAnswer):
            continue
        fired += await tell(database, channels, rule, found, now)
    return fired
