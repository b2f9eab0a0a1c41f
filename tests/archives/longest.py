"""Values of the greatest length that a rule takes, with characters of all kinds that it does not forbid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from backend.domain.fields.item_names import LONGEST_NAME, ItemName
from backend.domain.fields.rules import JsonObject, LinkPath, Rule, Text, WebAddress

# Of one byte to four, right to left, with marks, with separators of lines that are no control characters.
_CHARACTERS = "abcXYZ019 _-.~!'\"&=<>{}\\äßλЖ日本ا🪁\u0301\u2028\u00a0"
_URL_CHARACTERS = "abcXYZ019-._~!$&'()*+,;=:@/äß日🪁"


def long_text(length: int, characters: str = _CHARACTERS) -> st.SearchStrategy[str]:
    """Text of exactly so many characters, without blanks at its ends."""
    # All characters in one order or another, again and again: a draw of each character would take longer than
    # all that is tested.
    pieces = st.permutations(characters).map("".join)
    return pieces.map(lambda piece: "x" + (piece * length)[: length - 2] + "x")


def long_url(longest_bytes: int, host: str = "shop.example") -> st.SearchStrategy[str]:
    """An https URL of exactly so many bytes."""
    beginning = f"https://{host}/"

    def filled(piece: str) -> str:
        room = longest_bytes - len(beginning)
        path = (piece * room).encode()[:room].decode(errors="ignore")
        return beginning + path + "x" * (room - len(path.encode()))

    return st.permutations(_URL_CHARACTERS).map("".join).map(filled)


def long_path() -> st.SearchStrategy[str]:
    """A path of as many segments and characters as a link may have."""
    each = LinkPath.MAX_LENGTH // LinkPath.MAX_SEGMENTS - 1
    segments = [long_text(each, "abcXYZ019-_~")] * (LinkPath.MAX_SEGMENTS - 1)
    last = long_text(LinkPath.MAX_LENGTH - (LinkPath.MAX_SEGMENTS - 1) * (each + 1), "abcXYZ019-_~")
    return st.tuples(*segments, last).map("/".join)


def large_object(rule: JsonObject) -> st.SearchStrategy[dict[str, Any]]:
    """An object of as many levels and bytes as the rule takes, with characters that control terminals."""

    def deep(value: Any, name: str) -> dict[str, Any]:
        for _ in range(rule.max_depth - 2):
            value = {name: value}
        made = {"deep": value, name: "\x1b[2J\x07\x85", "rest": ""}
        size = len(json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode())
        return made | {"rest": "x" * (rule.max_bytes - size)}

    numbers = st.floats(allow_nan=False, allow_infinity=False)
    values = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), numbers)
    names = st.sampled_from(["a\x1b[2J", "b\u2028", "c.d", "ä\x85", "\x7f"])
    return st.builds(deep, values, names)


def longest(rule: Rule[Any]) -> st.SearchStrategy[Any]:
    """A value at the rule's own limits."""
    match rule:
        case Text():
            return long_text(rule.max_length).filter(lambda text: _takes(rule, text))
        case WebAddress():
            return long_url(rule.max_bytes)
        case LinkPath():
            return long_path()
        case ItemName():
            return long_text(LONGEST_NAME, "abcXYZ019äßλЖ日本🪁 _-").filter(lambda text: _takes(rule, text))
        case JsonObject():
            return large_object(rule)
    return _of_schema(rule)


def longest_of(rules: Mapping[str, Rule[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A value at its limits for each of the rules."""
    return st.fixed_dictionaries({name: longest(rule) for name, rule in rules.items()})


def _of_schema(rule: Rule[Any]) -> st.SearchStrategy[Any]:
    match rule.schema():
        case {"type": "boolean"}:
            return st.booleans()
        case {"enum": list(values)}:
            return st.sampled_from(values)
        case {"type": "integer", "maximum": int(most)}:
            return st.just(most)
        case {"type": "string", "maxLength": int(length), "pattern": str(pattern)} if "://" in pattern:
            return long_url(length).filter(lambda url: _takes(rule, url))
        case {"type": "string", "maxLength": int(length)}:
            return long_text(length).filter(lambda text: _takes(rule, text))
    raise NotImplementedError(f"say here what is longest for {rule!r}")


def _takes(rule: Rule[Any], value: object) -> bool:
    try:
        rule.parse("field", value)
    except ValueError:
        return False
    return True
