"""One look at everything that an organization's alert rules are about."""

from __future__ import annotations

from datetime import datetime

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.rule import AlertRule
from backend.domain.ids import AlertRuleId, OrgId
from backend.storage.alerts.alerts import end_unwatched
from backend.storage.alerts.firing import AlertChannels, tell
from backend.storage.alerts.rules import enabled_rules
from backend.storage.alerts.sources import AlertSources
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.mongo import Database
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work


async def look(
    database: Database,
    analytics: Analytics,
    channels: AlertChannels,
    org_id: OrgId,
    now: datetime,
) -> list[Alert]:
    """Look at what the organization's rules are about. Returns the alerts that were fired.

    A rule whose figures can't be told now is left for the next look: its alerts stay as they are. Those of
    a rule that was switched off or deleted are over. A rule that fails is left out for a while.
    """
    sources = AlertSources(database, analytics, org_id, now)
    rules = await enabled_rules(database, org_id)
    await end_unwatched(database, org_id, [AlertRuleId(rule.id) for rule in rules], now)
    fired: list[Alert] = []

    async def look_for(rule: AlertRule) -> None:
        try:
            found = await sources.found(rule)
        except (FactsNotReady, NoAnswer):
            return
        fired.extend(await tell(database, channels, rule, found, now))

    await Items(database, Work.ALERTS).each(rules, look_for)
    return fired
