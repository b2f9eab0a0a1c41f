"""The section of a link's form about what it passes on of what visitors add to its short URL."""

from __future__ import annotations

from typing import Any

from backend.dashboard.frame.form import field
from backend.dashboard.links.editing.form import Fields, Problems
from backend.domain.errors import InvalidField
from backend.domain.links.links import TOLD_FIELDS, Link

_PATH, _NAMES, _ADDS, _PRECEDENCE = "forwards_path", "forwards_query", "adds_link_id", "query_precedence"
# The box that leaves addresses as they are.
_UNTOUCHED = "leaves_untouched"
# The field for which parameters are passed on, and its choices.
_CHOICE = "forwards_parameters"
_ALL, _SOME, _NONE = "all", "some", "none"


def empty_forwarding() -> Fields:
    """The fields of a link that passes on all parameters and no path."""
    return {_PATH: "", _NAMES: "", _CHOICE: _ALL, _UNTOUCHED: "", _PRECEDENCE: ""}


def forwarding_of(link: Link) -> Fields:
    """The text of each field for an existing link."""
    names = link.forwards_query
    choice = _ALL if names is None else _SOME if names else _NONE
    return {
        _PATH: "true" if link.forwards_path else "",
        _NAMES: ", ".join(names or ()),
        _CHOICE: choice,
        _UNTOUCHED: "" if link.adds_link_id else "true",
        _PRECEDENCE: link.query_precedence or "",
    }


def sent_forwarding() -> Fields:
    """The text of each field from the current request, to be shown again."""
    return {name: field(name) for name in empty_forwarding()}


def read_forwarding(fields: Fields) -> tuple[dict[str, Any], Problems]:
    """What the link passes on, as the body for the REST API has it, and the error of each invalid field."""
    names = [name for text in fields[_NAMES].split(",") if (name := text.strip())]
    passed = {_SOME: names, _NONE: []}.get(fields[_CHOICE])
    body: dict[str, Any] = {
        _PATH: fields[_PATH] == "true",
        _NAMES: passed,
        _ADDS: fields[_UNTOUCHED] != "true",
        _PRECEDENCE: fields[_PRECEDENCE] or None,
    }
    if fields[_CHOICE] == _SOME and not names:
        return body, {_NAMES: "must have a name, such as ref"}
    try:
        if passed is not None:
            TOLD_FIELDS[_NAMES].parse(_NAMES, passed)
    except InvalidField as error:
        return body, {_NAMES: error.rule}
    return body, {}
