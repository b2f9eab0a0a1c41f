"""A site's own data on a call: its rule, and the form in which it is stored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import SURROGATE, JsonObject, Schema
from backend.domain.visitors.call_fields import MOST_NOTES, LenientRule, shown
from backend.domain.visitors.call_texts import REPLACEMENT

_OBJECT = JsonObject(max_bytes=4096, max_depth=8)
_NOT_IN_NAMES = "$"


class Metadata(LenientRule):
    """A JSON object of at most 4,096 bytes and eight levels, including that of the innermost values.

    Its size is that of the text that JavaScript's `JSON.stringify` writes, in UTF-8: without blanks, with
    only those characters escaped that have to be, and with numbers as they were sent.
    """

    MOST_BYTES = _OBJECT.max_bytes
    MOST_LEVELS = _OBJECT.max_depth

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The object as it is stored. Raises InvalidField.

        Numbers with decimals, and whole ones beyond 64 bits, become floats: only money has to be exact. Names
        that begin with $ are left out, and what is no character is replaced.
        """
        _OBJECT.check_depth(field, value)
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        if _size(value) > self.MOST_BYTES:
            raise InvalidField(field, f"must have at most {self.MOST_BYTES} bytes as JSON")
        stored: dict[str, Any] = _stored(field, value)
        return stored

    def notes(self, field: str, value: dict[str, Any]) -> Iterable[str]:
        """Sentences on names that were left out, and on texts that were changed."""
        names = list(_names(value))
        left_out = [name for name in names if name.startswith(_NOT_IN_NAMES)]
        for name in left_out[:MOST_NOTES]:
            yield f"{field}.{shown(name)} was left out: no name may begin with {_NOT_IN_NAMES}"
        is_changed = any(_name(name) != name for name in names if name not in left_out)
        if is_changed or any(_text(text) != text for text in _texts(value)):
            yield f"half characters (lone surrogates) or NUL in {field} were replaced"

    def schema(self) -> Schema:
        """JSON Schema of any object."""
        return {
            "type": "object",
            "additionalProperties": True,
            "description": f"At most {self.MOST_BYTES:,} bytes as JSON in UTF-8, without blanks between, and "
            f"{self.MOST_LEVELS} levels. Names that begin with {_NOT_IN_NAMES} are left out, with a note.",
        }


def _size(value: object) -> int:
    """How many bytes the value has as JSON."""
    written: list[str] = []

    def digit(number: Decimal) -> int:
        written.append(str(number))
        return 0  # one digit in the place of those that were sent

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=digit)
    return len(text.encode("utf-8", "backslashreplace")) + sum(len(digits) - 1 for digits in written)


def _stored(field: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {
            _name(name): _stored(field, inner)
            for name, inner in value.items()
            if not name.startswith(_NOT_IN_NAMES)
        }
    if isinstance(value, list):
        return [_stored(field, inner) for inner in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Decimal | float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return _double(field, value)
    return value


def _double(field: str, number: Decimal | float) -> float:
    try:
        double = float(number)
    except (OverflowError, ValueError):  # ValueError is a signaling NaN's
        double = math.inf
    if not math.isfinite(double):
        raise InvalidField(field, "must not hold numbers too large for a double")
    return double


def _text(text: str) -> str:
    """The text as it is stored, with lone surrogates replaced."""
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def _name(name: str) -> str:
    """The name as it is stored, with lone surrogates and NUL replaced."""
    return _text(name).replace("\0", REPLACEMENT)


def _names(value: object) -> Iterator[str]:
    """Every name in the value, except for those inside values that are left out."""
    if isinstance(value, dict):
        yield from value
    for inner in _kept(value):
        yield from _names(inner)


def _texts(value: object) -> Iterator[str]:
    """Every text in the parts of the value that are kept."""
    if isinstance(value, str):
        yield value
    for inner in _kept(value):
        yield from _texts(inner)


def _kept(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [inner for name, inner in value.items() if not name.startswith(_NOT_IN_NAMES)]
    return value if isinstance(value, list) else []
