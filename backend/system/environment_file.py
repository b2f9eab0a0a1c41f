"""Reads a file of environment variables as systemd does (systemd.exec(5), EnvironmentFile=)."""

from __future__ import annotations

import re

# A line that is no assignment, or the name of a variable and what stands between it and its value.
_LINE = re.compile(r"[ \t\r\n]*(?:[#;](?:\\[\s\S]|[^\\\n])*|([^=\n]*?)[ \t]*(=)[ \t\r]*|[^=\n]*(?:\n|$))")
# A piece of a value in quotes, with the blanks behind it.
_IN_SINGLE = re.compile(r"'([^']*)'?[ \t\r]*")
_IN_DOUBLE = re.compile(r'"((?:[^"\\]|\\[\s\S])*)"?[ \t\r]*')
# The rest of a value without quotes: quotes in it are characters of it.
_PLAIN = re.compile(r"(?:[^\\\n]|\\(?:[\s\S]|\Z))*")
_ESCAPED = re.compile(r"\\([\s\S]|\Z)")


def environment_in(text: str) -> dict[str, str]:
    """The variables of a file's text. Of a variable that is set twice, the last value counts.

    Nothing is put in for `$`, and `#` begins a comment only at the beginning of a line.
    """
    variables: dict[str, str] = {}
    place = 0
    while place < len(text):
        line = _LINE.match(text, place)
        if line is None or line.end() == place:
            place += 1
            continue
        place = line.end()
        if line[2]:
            value, place = _value(text, place)
            if line[1]:
                variables[line[1]] = value
    return variables


def _value(text: str, place: int) -> tuple[str, int]:
    """The value that begins at this place, and the place behind it."""
    value = ""
    while place < len(text) and text[place] != "\n":
        if quoted := _IN_SINGLE.match(text, place):
            value += quoted[1]
        elif quoted := _IN_DOUBLE.match(text, place):
            value += _ESCAPED.sub(_in_double_quotes, quoted[1])
        else:
            quoted = _PLAIN.match(text, place)
            assert quoted
            value += _without_blanks(quoted[0])
        place = quoted.end()
    return value, place


def _without_blanks(plain: str) -> str:
    """A value without the blanks at its end that are not escaped, and without its backslashes."""
    kept = re.sub(r"((?:\\[\s\S])?)[ \t\r]*\Z", r"\1", plain)
    return _ESCAPED.sub(lambda escaped: "" if escaped[1] == "\n" else escaped[1], kept)


def _in_double_quotes(escaped: re.Match[str]) -> str:
    character = escaped[1]
    if character == "\n":
        return ""
    return character if character in '"\\`$' else f"\\{character}"
