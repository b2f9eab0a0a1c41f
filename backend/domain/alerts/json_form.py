"""Alert rules and alerts as answers show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.finding import AlertCause, Preview
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.words import why
from backend.domain.fields.json_times import time_json, with_times
from backend.domain.ids import TagId


def rule_json(rule: AlertRule, tags: Mapping[TagId, str]) -> dict[str, Any]:
    """The rule. `tags` are the names of tags; one that was deleted has none, and is null."""
    return {
        "id": rule.id,
        "name": rule.name,
        "kind": rule.kind.value,
        "scope": "link" if rule.link_id else "tag" if rule.tag_id else "organization",
        "link_id": rule.link_id,
        "tag": tags.get(rule.tag_id) if rule.tag_id else None,
        "thresholds": dict(rule.thresholds),
        "webhooks": rule.webhooks,
        "mail_to": list(rule.mail_to),
        "language": rule.language.value,
        "timezone": rule.timezone,
        "is_enabled": rule.is_enabled,
        "created_at": time_json(rule.created_at),
    }


def alert_json(alert: Alert) -> dict[str, Any]:
    """The alert, with why it fired in words and as figures."""
    return {
        "id": alert.id,
        "rule_id": alert.rule_id,
        "kind": alert.kind.value,
        "link_id": alert.link_id,
        "began_at": time_json(alert.began_at),
        "fired_at": time_json(alert.fired_at),
        "ended_at": time_json(alert.ended_at) if alert.ended_at else None,
        "is_sent": alert.is_sent,
        "is_seen": alert.seen_at is not None,
        "why": why(alert.kind, alert.figures),
        "figures": with_times(time_json, alert.figures),
    }


def preview_json(rule: AlertRule, preview: Preview) -> dict[str, Any]:
    """What the rule would have told of, and what of that can't be known."""
    return {
        "alerts": len(preview.findings),
        "note": preview.note or None,
        "findings": [finding_json(rule.kind, finding) for finding in preview.findings],
    }


def finding_json(kind: AlertKind, finding: AlertCause) -> dict[str, Any]:
    """What a rule of this kind would have told of."""
    return {
        "link_id": finding.link_id,
        "began_at": time_json(finding.began_at),
        "ended_at": time_json(finding.ended_at) if finding.ended_at else None,
        "why": why(kind, finding.figures),
        "figures": with_times(time_json, finding.figures),
    }
