"""Alerts that were fired, without waiting for their cause."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import AlertKind
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.mail.alert_mails import alert_mail
from backend.storage.alerts.firing import AlertChannels, tell
from backend.storage.alerts.rules import create_rule
from backend.storage.driver.mongo import Database

CHANNELS = AlertChannels(ShortUrlForm(), partial(alert_mail, "https://links.example"))


async def fire_alert(database: Database, org_id: OrgId, link_id: LinkId | None) -> Alert:
    """A rule of the organization tells, also to webhooks, that the link's clicks are nearly taken."""
    now = datetime.now(UTC).replace(microsecond=0)
    fields = {"name": "Limits", "kind": AlertKind.LIMITS, "webhooks": True}
    rule = await create_rule(database, org_id, fields, now)
    figures = {"clicks": 4, "max_clicks": 5}
    finding = AlertCause(f"clicks/nearly/{link_id}", "5", now, figures, link_id)
    (alert,) = await tell(database, CHANNELS, rule, [finding], now)
    return alert
