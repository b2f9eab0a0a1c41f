"""The texts in calls, and the form in which they are stored."""

from __future__ import annotations

from backend.domain.fields.rules import CONTROL, SURROGATE

REPLACEMENT = "\ufffd"
_WIDTHS = range(0x2000, 0x200B)
_SEPARATORS = "\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
# Control characters and JavaScript's white space, so that the SDK trims texts in the same way.
_BLANKS = "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1), *_WIDTHS))) + _SEPARATORS


def trimmed(text: str) -> str:
    """The text without white space and control characters around it."""
    return text.strip(_BLANKS)


def is_blank(value: object) -> bool:
    """Whether a field with this value counts as not given."""
    return value is None or (isinstance(value, str) and not trimmed(value))


def as_stored(text: str) -> str:
    """An id or another text of a call as calls are stored, so that it is found however it is written.

    It is trimmed, control characters in it are removed, and half a character (a lone surrogate) is replaced.
    """
    if text.isascii() and text.isprintable():  # nearly always, and quick to find out
        return text.strip(" ")
    return SURROGATE.sub(REPLACEMENT, CONTROL.sub("", trimmed(text)))
