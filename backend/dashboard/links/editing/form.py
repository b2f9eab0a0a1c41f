"""The form for a link: converts between its text fields and the body of a REST API request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from backend.dashboard.frame.form import field
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Rule
from backend.domain.links.input import CREATE_OPTIONAL, CREATE_REQUIRED, REQUIRED, UPDATE_FIELDS
from backend.domain.links.links import Link

Fields = dict[str, str]
Problems = dict[str, str]
Rules = Mapping[str, Rule[Any]]
NEW_RULES: Rules = CREATE_REQUIRED | CREATE_OPTIONAL
CHANGE_RULES: Rules = UPDATE_FIELDS
_NUMBERS = {"ios_behavior", "android_behavior"}
EMPTY: Fields = dict.fromkeys(NEW_RULES, "") | {"ios_behavior": "1", "android_behavior": "1"}


def sent_fields(rules: Rules) -> Fields:
    """The text of each form field that has a rule in `rules`, from the current request."""
    return EMPTY | {name: field(name) for name in rules}


def fields_of(link: Link) -> Fields:
    """The text of each form field for an existing link."""
    plain = {"destination_url": link.destination_url, "link_name": link.link_name}
    behaviors = {"ios_behavior": str(link.ios_behavior), "android_behavior": str(link.android_behavior)}
    data = json.dumps(link.custom_data, indent=2, ensure_ascii=False) if link.custom_data else ""
    return EMPTY | plain | behaviors | link.utm | link.social | link.fallbacks | {"custom_data": data}


def read_body(fields: Fields, rules: Rules) -> tuple[dict[str, Any], Problems]:
    """The body for the REST API, and for each invalid field its error, which completes "<label> ...".

    An empty field is null in the body: it is not set on a new link, and removed from an existing one.
    """
    body: dict[str, Any] = {}
    problems: Problems = {}
    for name, rule in rules.items():
        try:
            body[name] = _value(name, fields[name])
            _check(name, body[name], rule)
        except InvalidField as error:
            problems[name] = error.rule
    return body, problems


def _check(name: str, value: object, rule: Rule[Any]) -> None:
    if value is None and name in CREATE_REQUIRED | REQUIRED:
        raise InvalidField(name, "is required")
    if value is not None:
        rule.parse(name, value)


def _value(name: str, text: str) -> object:
    if not text:
        return None
    if name in _NUMBERS:
        return int(text) if text in {"1", "2"} else text
    return _parse_json(name, text) if name == "custom_data" else text


def _parse_json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidField(name, 'must be a JSON object such as {"size": 9}') from None
