"""Patterns of association files: `*` stands for any number of characters, `?` for exactly one."""

from __future__ import annotations


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches the whole text. Takes at most their lengths' product in time."""
    place = at = 0
    star, resumed_at = -1, 0  # the last star, and where in the text what it stands for ends
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, resumed_at = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in {"?", text[at]}:
            place += 1
            at += 1
        elif star >= 0:  # let the last star stand for one character more
            resumed_at += 1
            place, at = star + 1, resumed_at
        else:
            return False
    return not pattern[place:].strip("*")
