"""JSON Schemas of alert rules and alerts in answers."""

from __future__ import annotations

from backend.domain.alerts.input import CHANGE_FIELDS
from backend.domain.alerts.rule import AlertKind
from backend.domain.fields.answer_schemas import answer_object
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_ID: Schema = {"type": "string", "format": "uuid"}
_ID_OR_NULL: Schema = {"anyOf": [_ID, {"type": "null"}]}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
_INSTANT_OR_NULL: Schema = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
_FLAG: Schema = {"type": "boolean"}
_KIND: Schema = {"type": "string", "enum": [kind.value for kind in AlertKind]}
_WHY: Schema = {"type": "string", "description": "Why it fired, as a sentence in English."}
_FIGURES: Schema = {
    "type": "object",
    "description": "Why it fired: numbers, texts and times, which depend on the kind.",
}
_RULE: dict[str, Schema] = {
    "id": _ID,
    "name": {"type": "string"},
    "kind": _KIND,
    "scope": {"type": "string", "enum": ["organization", "link", "tag"]},
    "link_id": _ID_OR_NULL,
    "tag": {
        "type": ["string", "null"],
        "description": "Null too if the rule's tag was deleted: then it finds nothing.",
    },
    "thresholds": {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "description": "All thresholds of the kind, by their names.",
    },
    "webhooks": _FLAG | {"description": "Whether alerts are events of the feed, which webhooks send."},
    "mail_to": {"type": "array", "items": {"type": "string"}},
    "language": CHANGE_FIELDS["language"].schema(),
    "timezone": {"type": "string"},
    "is_enabled": _FLAG,
    "created_at": _INSTANT,
}
_ALERT: dict[str, Schema] = {
    "id": _ID,
    "rule_id": _ID,
    "kind": _KIND,
    "link_id": _ID_OR_NULL,
    "began_at": _INSTANT,
    "fired_at": _INSTANT,
    "ended_at": _INSTANT_OR_NULL | {"description": "When its cause was over; null while it goes on."},
    "is_sent": _FLAG | {"description": "False if the rule had sent as many as it may in a day."},
    "is_seen": _FLAG,
    "why": _WHY,
    "figures": _FIGURES,
}
_FINDING = {name: _ALERT[name] for name in ("link_id", "began_at", "ended_at", "why", "figures")}


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": reference(name)}


ALERT_SCHEMAS: dict[str, Schema] = {
    "AlertRule": answer_object(**_RULE),
    "AlertRuleList": answer_object(alert_rules=_list_of("AlertRule")),
    "Alert": answer_object(**_ALERT),
    "AlertList": answer_object(alerts=_list_of("Alert")),
    "AlertFinding": answer_object(**_FINDING),
    "AlertPreview": answer_object(
        alerts={"type": "integer", "description": "How many alerts there would have been."},
        note={"type": ["string", "null"], "description": "What of it can't be known afterwards."},
        findings=_list_of("AlertFinding"),
    ),
}
