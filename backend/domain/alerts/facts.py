"""The facts that the feed has of alerts."""

from __future__ import annotations

from typing import Any

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.json_form import figures_json
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.words import why
from backend.domain.fields.json_times import time_json

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


def alert_event_data(fact: dict[str, Any]) -> dict[str, Any]:
    """The data of the event that such a fact stands for."""
    return {
        "id": fact["alert_id"],
        "rule_id": fact["rule_id"],
        "rule_name": fact["rule_name"],
        "kind": fact["kind"],
        "link_id": fact["link_id"],
        "began_at": time_json(fact["began_at"]),
        "ended_at": time_json(fact["ended_at"]) if fact["ended_at"] else None,
        "why": why(AlertKind(fact["kind"]), fact["figures"]),
        "figures": figures_json(fact["figures"]),
    }
