"""One look at everything that an organization's alert rules are about."""

from __future__ import annotations

import random
import time
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

# How long it is gone on with rules of an organization, while others wait.
_MOST_SECONDS = 60.0


async def look(
    database: Database,
    analytics: Analytics,
    channels: AlertChannels,
    org_id: OrgId,
    now: datetime,
) -> list[Alert]:
    """Look at what the organization's rules are about. Returns the alerts that were fired.

    A rule whose figures can't be told now is left for the next look: its alerts stay as they are. Those of
    a rule that was switched off or deleted are over. A rule that fails is left out for a while. Where
    figures come slowly, not all rules are looked at each time.
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

    ends = time.monotonic() + _MOST_SECONDS
    in_any_order = random.sample(rules, len(rules))  # so that each rule has its turn
    await Items(database, Work.ALERTS).each(in_any_order, look_for, goes_on=lambda: time.monotonic() < ends)
    return fired
