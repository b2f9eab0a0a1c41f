"""Alerts: what a rule has told of."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from backend.domain.alerts.finding import AlertCause, Figures
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.ids import AlertRuleId, LinkId, OrgId

# The name space of the ids of alerts, so that the same alert has the same id whoever makes it.
_IDS = uuid.UUID("6f1b9f9e-6d0c-4a55-9f0a-0d1f3c7f3b52")
# Alerts of a rule that are sent in a day. The dashboard has those beyond them too.
MOST_SENT_A_DAY = 20


@dataclass(frozen=True, slots=True)
class Alert:
    """What a rule has told of once. `ended_at` is when its cause was over; None while it holds.

    `is_sent`: whether it went to webhooks and mail, as the rule says. It did not where the rule had told of
    MOST_SENT_A_DAY others that day. `seen_at` is when somebody of the organization marked it as seen.
    """

    id: str
    org_id: OrgId
    rule_id: AlertRuleId
    kind: AlertKind
    cause: str
    period: str
    began_at: datetime
    fired_at: datetime
    figures: Figures
    link_id: LinkId | None = None
    ended_at: datetime | None = None
    is_sent: bool = True
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AlertNews:
    """What a rule tells at once: alerts that it has fired, and others whose cause is over."""

    rule: AlertRule
    fired: tuple[Alert, ...]
    over: tuple[Alert, ...] = ()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """All of them."""
        return (*self.fired, *self.over)


def alert_id(rule_id: AlertRuleId, cause: str, period: str) -> str:
    """The id of the alert of this rule about this cause in this period."""
    return str(uuid.uuid5(_IDS, f"{rule_id}\n{cause}\n{period}"))


def alert_of(rule: AlertRule, finding: AlertCause, now: datetime, *, is_sent: bool) -> Alert:
    """The alert that tells of this finding."""
    return Alert(
        id=alert_id(rule.id, finding.cause, finding.period),
        org_id=rule.org_id,
        rule_id=rule.id,
        kind=rule.kind,
        cause=finding.cause,
        period=finding.period,
        began_at=finding.began_at,
        fired_at=now,
        figures=finding.figures,
        link_id=finding.link_id,
        is_sent=is_sent,
    )
