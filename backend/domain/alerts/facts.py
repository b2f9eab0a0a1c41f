"""The facts that the feed has of alerts."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, TypedDict

from backend.domain.alerts.alert import Alert
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.alerts.words import why
from backend.domain.fields.json_times import time_json, with_times
from backend.domain.fields.shapes import ANY_OBJECT, JsonForm, TimeText, UuidText, json_of

TYPE = "alert"
_Figures = Annotated[dict[str, Any], JsonForm(ANY_OBJECT, partial(with_times, time_json))]


class AlertEventJson(TypedDict):
    """An alert rule has told of something, or what it told of is over."""

    id: Annotated[UuidText, "The alert's, as `GET /alerts` has it."]
    rule_id: UuidText
    rule_name: Annotated[str, "The rule's name at that time."]
    kind: AlertKind
    link_id: Annotated[UuidText | None, "The link that it is about."]
    began_at: Annotated[TimeText, "When what it tells of began."]
    ended_at: Annotated[TimeText | None, "When it was over; null while it goes on."]
    why: Annotated[str, "Why it fired, as a sentence in English."]
    figures: Annotated[_Figures, "Why it fired: numbers, texts and times, which depend on the kind."]


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


def alert_event_data(fact: dict[str, Any]) -> AlertEventJson:
    """The data of the event that such a fact stands for."""
    return json_of(
        AlertEventJson, fact, id=fact["alert_id"], why=why(AlertKind(fact["kind"]), fact["figures"])
    )
