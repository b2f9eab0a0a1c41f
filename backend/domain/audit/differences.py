"""What differs between two states of something, as the audit log shows it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
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
    was, is_now = dict(_flat(before or {}, hidden)), dict(_flat(after or {}, hidden))
    names = [name for name in {**was, **is_now} if was.get(name, _NOTHING) != is_now.get(name, _NOTHING)]
    old, new = ({name: state[name] for name in names if name in state} for state in (was, is_now))
    return (
        None if before is None else _shown(old, hidden),
        None if after is None else _shown(new, hidden),
    )


def _flat(values: Mapping[str, Any], hidden: Collection[str], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict) and name not in hidden:
            yield from _flat(value, hidden, f"{path}{name}.")
        elif value is not None and value not in ([], (), ""):
            yield f"{path}{name}", value


def _shown(values: Mapping[str, Any], hidden: Collection[str]) -> ShownFields:
    return {
        name: HIDDEN if name in hidden or name.rpartition(".")[2] in hidden else _readable(value)
        for name, value in values.items()
    }


def _readable(value: Any) -> Any:
    """The value as JSON can have it, but for times; a long one is cut."""
    if type(value) is str:  # as most are
        return _cut(CONTROL_BUT_LINES.sub(_REPLACED, value))
    if value is None or isinstance(value, (bool, int, float, datetime)):
        return value
    if isinstance(value, (list, tuple, dict)):
        plain = _plain(value)
        text = json.dumps(plain, ensure_ascii=False)
        return plain if len(text) <= _LONGEST else _cut(text)
    return _cut(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return CONTROL_BUT_LINES.sub(_REPLACED, str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
