"""Alert rules and alerts as answers show them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.finding import AlertCause, Preview
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.words import why
from backend.domain.fields.shapes import ANY_OBJECT, JsonForm, TimeText, UuidText, json_of
from backend.domain.fields.times.json_times import time_json, with_times
from backend.domain.ids import TagId
from backend.domain.mail.language import Language

_Why = Annotated[str, "Why it fired, as a sentence in English."]
_Figures = Annotated[
    dict[str, Any],
    JsonForm(ANY_OBJECT, partial(with_times, time_json)),
    "Why it fired: numbers, texts and times, which depend on the kind.",
]


class AlertRuleJson(TypedDict):
    """What alerts tell of, and whom."""

    id: UuidText
    name: str
    kind: AlertKind
    scope: Literal["organization", "link", "tag"]
    link_id: UuidText | None
    tag: Annotated[str | None, "Null too if the rule's tag was deleted: then it finds nothing."]
    thresholds: Annotated[dict[str, int], "All thresholds of the kind, by their names."]
    webhooks: Annotated[bool, "Whether alerts are events of the feed, which webhooks send."]
    mail_to: list[str]
    language: Language
    timezone: str
    is_enabled: bool
    created_at: TimeText


class AlertJson(TypedDict):
    """That a rule told of something."""

    id: UuidText
    rule_id: UuidText
    kind: AlertKind
    link_id: UuidText | None
    began_at: TimeText
    fired_at: TimeText
    ended_at: Annotated[TimeText | None, "When its cause was over; null while it goes on."]
    is_sent: Annotated[bool, "False if the rule had sent as many as it may in a day."]
    is_seen: bool
    why: _Why
    figures: _Figures


class AlertFindingJson(TypedDict):
    """What a rule would have told of."""

    link_id: UuidText | None
    began_at: TimeText
    ended_at: Annotated[TimeText | None, "When its cause was over; null while it goes on."]
    why: _Why
    figures: _Figures


class AlertPreviewJson(TypedDict):
    """What a rule would have told of, and what of that can't be known."""

    alerts: Annotated[int, "How many alerts there would have been."]
    note: Annotated[str | None, "What of it can't be known afterwards."]
    findings: list[AlertFindingJson]


class AlertEventJson(TypedDict):
    """An alert rule has told of something, or what it told of is over."""

    id: Annotated[UuidText, "The alert's, as `GET /alerts` has it."]
    rule_id: UuidText
    rule_name: Annotated[str, "The rule's name at that time."]
    kind: AlertKind
    link_id: Annotated[UuidText | None, "The link that it is about."]
    began_at: Annotated[TimeText, "When what it tells of began."]
    ended_at: Annotated[TimeText | None, "When it was over; null while it goes on."]
    why: _Why
    figures: _Figures


def rule_json(rule: AlertRule, tags: Mapping[TagId, str]) -> AlertRuleJson:
    """The rule. `tags` are the names of tags; one that was deleted has none, and is null."""
    scope = "link" if rule.link_id else "tag" if rule.tag_id else "organization"
    tag = tags.get(rule.tag_id) if rule.tag_id else None
    return json_of(AlertRuleJson, rule, scope=scope, tag=tag)


def alert_json(alert: Alert) -> AlertJson:
    """The alert, with why it fired in words and as figures."""
    return json_of(AlertJson, alert, is_seen=alert.seen_at is not None, why=why(alert.kind, alert.figures))


def preview_json(rule: AlertRule, preview: Preview) -> AlertPreviewJson:
    """What the rule would have told of, and what of that can't be known."""
    findings = [finding_json(rule.kind, finding) for finding in preview.findings]
    return {"alerts": len(findings), "note": preview.note or None, "findings": findings}


def finding_json(kind: AlertKind, finding: AlertCause) -> AlertFindingJson:
    """What a rule of this kind would have told of."""
    return json_of(AlertFindingJson, finding, why=why(kind, finding.figures))


def alert_event_json(fact: Mapping[str, Any]) -> AlertEventJson:
    """The data of the event that a fact stands for (`alert_fact`)."""
    sentence = why(AlertKind(fact["kind"]), fact["figures"])
    return json_of(AlertEventJson, fact, id=fact["alert_id"], why=sentence)
