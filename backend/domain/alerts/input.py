"""The fields of an alert rule that its organization says, and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.alerts.rule import OF_ORGANIZATION, AlertKind, AlertRule
from backend.domain.alerts.thresholds import THRESHOLDS, defaults_of, parse_thresholds
from backend.domain.errors import InvalidField, shown_name
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Flag, Rule, Schema, Text, Uuid, Word
from backend.domain.fields.time_zones import TimeZone
from backend.domain.mail.language import Language

MOST_ADDRESSES = 20
RULE_NAME = Text(100, shown=True)


class GivenThresholds:
    """An object with thresholds of any kind. Which ones fit depends on the kind (`parse_thresholds`)."""

    _NAMES = frozenset(name for thresholds in THRESHOLDS.values() for name in thresholds)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The object, unchanged. Raises InvalidField."""
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        for name in value:
            if name not in self._NAMES:
                raise InvalidField(f"{field}.{shown_name(name)}", "is no threshold of any kind of alert")
        return value

    def schema(self) -> Schema:
        """JSON Schema of an object that has thresholds of any kind."""
        schemas: dict[str, Schema] = {}
        for thresholds in THRESHOLDS.values():
            for name, threshold in thresholds.items():
                schemas.setdefault(name, threshold.schema() | {"description": threshold.meaning})
        wide = {name: schema | {"minimum": 0, "maximum": 10**9} for name, schema in schemas.items()}
        return {"type": "object", "additionalProperties": False, "properties": wide}


class MailTo:
    """A list of addresses of the organization's people."""

    _ADDRESS = EmailAddress()

    def parse(self, field: str, value: object) -> tuple[str, ...]:
        """The addresses, each once. Raises InvalidField."""
        if not isinstance(value, list) or len(value) > MOST_ADDRESSES:
            raise InvalidField(field, f"must be a list of at most {MOST_ADDRESSES} e-mail addresses")
        return tuple(dict.fromkeys(self._ADDRESS.parse(field, address) for address in value))

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self._ADDRESS.schema(), "maxItems": MOST_ADDRESSES}


CHANGE_FIELDS: dict[str, Rule[Any]] = {
    "name": RULE_NAME,
    "thresholds": GivenThresholds(),
    "webhooks": Flag(),
    "mail_to": MailTo(),
    "language": Word(Language),
    "timezone": TimeZone(),
    "is_enabled": Flag(),
}
NEW_FIELDS: dict[str, Rule[Any]] = {
    "name": RULE_NAME,
    "kind": Word(AlertKind),
    "link_id": Uuid(),
    "tag": ItemName(),
    **{name: rule for name, rule in CHANGE_FIELDS.items() if name != "name"},
}
NEW_REQUIRED = ("name", "kind")
# Null, and the empty text, stand for a rule that names no link or no tag.
NEW_CLEARABLE = frozenset({"link_id", "tag"})


def check_new(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a new rule, with all of its thresholds. Raises InvalidField."""
    kind: AlertKind = fields["kind"]
    named = [name for name in ("link_id", "tag", "tag_id") if fields.get(name)]
    if len(named) > 1:
        raise InvalidField("tag", "can't be given together with link_id")
    if named and kind in OF_ORGANIZATION:
        raise InvalidField(named[0], f"can't be given for {kind.value}, which is about the organization")
    given = parse_thresholds("thresholds", kind, fields.get("thresholds") or {})
    return {**_with_zone(fields), "thresholds": defaults_of(kind) | given}


def check_change(rule: AlertRule, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a change of this rule, with those thresholds only that are given. Raises InvalidField."""
    changes = _with_zone(fields)
    if "thresholds" in changes:
        changes["thresholds"] = parse_thresholds("thresholds", rule.kind, changes["thresholds"])
    return changes


def _with_zone(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the time zone by its name."""
    return {**fields, "timezone": fields["timezone"].key} if "timezone" in fields else dict(fields)
