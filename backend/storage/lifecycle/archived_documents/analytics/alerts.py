"""Rules for the alert rules of an archive, and for what they have told of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from backend.domain.alerts.alert import alert_id
from backend.domain.alerts.input import check_new
from backend.domain.alerts.rule import AlertKind
from backend.domain.alerts.words import why
from backend.domain.errors import InvalidField
from backend.storage.alerts import alerts, rules
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_id,
)
from backend.storage.schema.document_fields import text, time

_MOST_FIGURES = 20


def _rule(document: Document, _: ArchiveContext) -> None:
    rules.SHAPE.check_with_uuid(document)
    told = {name: document[name] for name in ("link_id", "tag_id", "thresholds")}
    checked = check_new({"kind": AlertKind(document["kind"]), **told})
    if checked["thresholds"] != document["thresholds"]:
        raise InvalidField("thresholds", "must have all of the kind")


def _alert(document: Document, context: ArchiveContext) -> None:
    alerts.SHAPE.check(document)
    given = alert_id(document["rule_id"], document["cause"], document["period"])
    own_id(document, context.org_id, given)
    if ("is_open" in document) != (document["ended_at"] is None):
        raise InvalidField("is_open", "is of alerts without an end")
    if ("expires_at" in document) == (document["ended_at"] is None):
        raise InvalidField("expires_at", "is of alerts with an end")
    expires_within(alerts.KEPT, document, context)
    check_figures(AlertKind(document["kind"]), document["figures"])


def check_figures(kind: AlertKind, figures: dict[str, Any]) -> None:
    """Raise an error unless the figures can be shown, as those of an alert of this kind."""
    if len(figures) > _MOST_FIGURES:
        raise InvalidField("figures", f"must be at most {_MOST_FIGURES}")
    for name, value in figures.items():
        if isinstance(value, datetime):
            time(f"figures.{name}", value)
        elif isinstance(value, str):
            text(f"figures.{name}", value)
        elif not isinstance(value, int | float):
            raise InvalidField(f"figures.{name}", "must be a number, a text or a time")
    why(kind, figures)


RULES: Mapping[str, DocumentRule] = {rules.NAME: _rule, alerts.NAME: _alert}
