"""The form of an alert rule. It needs no script: a kind is chosen first, and has its own thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quart import request

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.form import field, form
from backend.dashboard.links.by_text import link_named
from backend.domain.accounts.users import User
from backend.domain.alerts.input import CHANGE_FIELDS, NEW_FIELDS
from backend.domain.alerts.rule import OF_ORGANIZATION, AlertKind, AlertRule
from backend.domain.alerts.thresholds import THRESHOLDS, defaults_of, parse_thresholds
from backend.domain.alerts.words import KIND_NAMES
from backend.domain.errors import FieldError, collect_errors
from backend.domain.fields.rules import parse_fields
from backend.domain.mail.language import Language

Fields = dict[str, str]
# The problem of each field that is wrong. It completes a sentence that begins with the field's label.
Problems = dict[str, str]
LABELS = {
    "name": "Name",
    "link": "Link",
    "tag": "Tag",
    "factor": "Times the usual clicks",
    "least": "At least",
    "days_before": "Days before the end",
    "percent": "Percent of a link's clicks",
    "requests": "Refused requests in a day",
    "mail_to": "People",
    "language": "Language",
    "timezone": "Time zone",
}
_MAIL = "mail-"
_FORM_NAMES = {"link_id": "link"}
_LONGEST_NUMBER = 10  # digits


def kind_of(text: str) -> AlertKind | None:
    """The kind of this name; None if there is none."""
    return AlertKind(text) if text in set(AlertKind) else None


def new_fields(kind: AlertKind) -> Fields:
    """The text of each field of a new rule, about the link or the tag that the address names."""
    return {
        "name": KIND_NAMES[kind],
        "link": request.args.get("link", "")[:2048],
        "tag": request.args.get("tag", "")[:100],
        "webhooks": "on",
        "language": Language.EN.value,
        "timezone": zone_of_browser().key,
        "is_enabled": "on",
        **{name: str(number) for name, number in defaults_of(kind).items()},
    }


def fields_of(rule: AlertRule) -> Fields:
    """The text of each field of an existing rule. What it is about can't be changed."""
    return rule_fields(rule) | {_MAIL + address: "on" for address in rule.mail_to}


def rule_fields(rule: AlertRule) -> Fields:
    """The same without the people who get mails."""
    return {
        "name": rule.name,
        "webhooks": "on" if rule.webhooks else "",
        "language": rule.language.value,
        "timezone": rule.timezone,
        "is_enabled": "on" if rule.is_enabled else "",
        **{name: str(number) for name, number in rule.thresholds.items()},
    }


def sent_addresses() -> list[str]:
    """The people who are ticked in the form of the current request."""
    return [name.removeprefix(_MAIL) for name in form() if name.startswith(_MAIL)]


def sent_fields(kind: AlertKind, people: Sequence[User]) -> Fields:
    """The text of each field from the current request, to be shown again."""
    names = ("name", "link", "tag", "webhooks", "language", "timezone", "is_enabled", *THRESHOLDS[kind])
    return {name: field(name) for name in (*names, *(_MAIL + person.email for person in people))}


async def read_new(kind: AlertKind, fields: Fields, problems: Problems) -> dict[str, Any]:
    """The fields of a new rule (`NEW_FIELDS`), parsed. What is wrong is added to `problems`."""
    values: dict[str, Any] = {"kind": kind.value} | _values(kind, fields)
    if kind not in OF_ORGANIZATION:
        if text := fields["link"].strip():
            link = await link_named(text)
            values["link_id"] = link.id if link else text
        if tag := fields["tag"].strip():
            values["tag"] = tag
    return _parsed(NEW_FIELDS, kind, values, problems)


def read_changes(rule: AlertRule, fields: Fields, problems: Problems) -> dict[str, Any]:
    """The fields of a change (`CHANGE_FIELDS`), parsed. What is wrong is added to `problems`."""
    return _parsed(CHANGE_FIELDS, rule.kind, _values(rule.kind, fields), problems)


def add_problems(errors: Iterable[FieldError], problems: Problems) -> None:
    """Add each error to `problems`, by the name of the form's field. The first error of a field stays."""
    for error in errors:
        for wrong in error.every:
            name = wrong.field.removeprefix("thresholds.")
            rule = "must be the short URL or the id of a link of yours" if name == "link_id" else wrong.rule
            problems.setdefault(_FORM_NAMES.get(name, name), rule)


def mail_name(person: User) -> str:
    """The name of the form's field that says whether this person gets mails."""
    return _MAIL + person.email


def _parsed(
    rules: Mapping[str, Any], kind: AlertKind, values: Mapping[str, Any], problems: Problems
) -> dict[str, Any]:
    errors: list[FieldError] = []
    parsed = parse_fields(rules, values, errors)
    with collect_errors(errors):
        parse_thresholds("thresholds", kind, values["thresholds"])
    add_problems(errors, problems)
    return parsed


def _values(kind: AlertKind, fields: Fields) -> dict[str, Any]:
    return {
        "name": fields["name"],
        "thresholds": {name: _number(fields[name]) for name in THRESHOLDS[kind]},
        "webhooks": bool(fields["webhooks"]),
        "mail_to": [name.removeprefix(_MAIL) for name in fields if name.startswith(_MAIL) and fields[name]],
        "language": fields["language"],
        "timezone": fields["timezone"],
        "is_enabled": bool(fields["is_enabled"]),
    }


def _number(text: str) -> object:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER else text
