"""One look at everything that an organization's alert rules are about."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.rule import AlertRule
from backend.domain.ids import OrgId
from backend.storage.alerts.alerts import end_unwatched
from backend.storage.alerts.firing import AlertChannels, tell
from backend.storage.alerts.rules import list_rules
from backend.storage.alerts.sources import AlertSources
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.mongo import Database
from backend.storage.processes.items import Items

NAME = "looking for alerts"


async def look(
    database: Database,
    analytics: Analytics,
    channels: AlertChannels,
    org_id: OrgId,
    now: datetime,
    *,
    items: Items | None = None,
) -> list[Alert]:
    """Look at what the organization's rules are about. Returns the alerts that were fired.

    A rule whose figures can't be told now is left for the next look: its alerts stay as they are. Those of
    a rule that was switched off or deleted are over. A rule that fails is left out for a while, among the
    `items` that the caller remembers.
    """
    items = items or Items(NAME)
    sources = AlertSources(database, analytics, org_id, now)
    rules = [rule for rule in await list_rules(database, org_id) if rule.is_enabled]
    await end_unwatched(database, org_id, [rule.id for rule in rules], now)
    fired: list[Alert] = []

    async def look_for(rule: AlertRule) -> None:
        try:
            found = await sources.found(rule)
        except (FactsNotReady, NoAnswer):
            return
        fired.extend(await tell(database, channels, rule, found, now))

    for rule in rules:
        await items.one(("rule", rule.id), partial(look_for, rule))
    return fired
