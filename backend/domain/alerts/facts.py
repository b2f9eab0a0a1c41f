"""The facts that the feed has of alerts."""

from __future__ import annotations

from typing import Any

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.rule import AlertRule

TYPE = "alert"


def alert_fact(rule: AlertRule, alert: Alert) -> dict[str, Any]:
    """The fact that an alert was fired, or that it is over, with all that its event says."""
    return {
        "type": TYPE,
        "at": alert.ended_at or alert.fired_at,
        "alert_id": alert.id,
        "rule_id": rule.id,
        "rule_name": rule.name,
        "kind": rule.kind.value,
        "link_id": alert.link_id,
        "began_at": alert.began_at,
        "ended_at": alert.ended_at,
        "figures": dict(alert.figures),
    }
