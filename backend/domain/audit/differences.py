"""What differs between two states of something, as the audit log shows it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from backend.domain.fields.rules import CONTROL_BUT_LINES

# What stands in the place of a secret.
HIDDEN = "hidden"
# Characters of a value. A longer one is cut: an entry is to be read, and a link's rules may have 100,000.
_LONGEST = 2_000
_NOTHING = object()
_REPLACED = "\N{REPLACEMENT CHARACTER}"
ShownFields = dict[str, Any]


def difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, hidden: Collection[str] = ()
) -> tuple[ShownFields | None, ShownFields | None]:
    """The fields that differ, as they were and as they are; None where there was, or is, nothing.

    Fields of fields are named by paths such as `brand.color`. A field that is in only one of the two is in
    only one of the answers, and so is one that is None or empty in the other. The values of `hidden` fields
    are compared, and not shown.
    """
    was, is_now = _flat(before or {}, hidden), _flat(after or {}, hidden)
    return (
        None if before is None else _shown(_unlike(was, is_now), hidden),
        None if after is None else _shown(_unlike(is_now, was), hidden),
    )


def _unlike(values: Mapping[str, Any], others: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values that the others do not have."""
    if not others:  # as for each new link
        return values
    return {name: value for name, value in values.items() if others.get(name, _NOTHING) != value}


def _flat(values: Mapping[str, Any], hidden: Collection[str], path: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if not value and not isinstance(value, (int, float)):  # None, or empty
            continue
        if isinstance(value, dict) and name not in hidden:
            flat |= _flat(value, hidden, f"{path}{name}.")
        else:
            flat[f"{path}{name}" if path else name] = value
    return flat


def _shown(values: Mapping[str, Any], hidden: Collection[str]) -> ShownFields:
    return {
        CONTROL_BUT_LINES.sub(_REPLACED, name): HIDDEN
        if name in hidden or name.rpartition(".")[2] in hidden
        else _readable(value)
        for name, value in values.items()
    }


def _readable(value: Any) -> Any:
    """The value as JSON can have it, but for times; a long one is cut."""
    if type(value) is str:  # as most are
        return _cut(CONTROL_BUT_LINES.sub(_REPLACED, value))
    if isinstance(value, (int, float, datetime)):
        return value
    if isinstance(value, (list, tuple, dict)):
        plain = _plain(value)
        text = json.dumps(plain, ensure_ascii=False)
        return plain if len(text) <= _LONGEST else _cut(text)
    return _cut(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, (int, float)):
        return value
    return CONTROL_BUT_LINES.sub(_REPLACED, str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
