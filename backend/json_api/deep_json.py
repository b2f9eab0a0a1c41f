"""JSON with more levels than Python's parser can read."""

from __future__ import annotations

import re

# More than any field may have, so that what is cut here is refused by its field's own rule.
MOST_LEVELS = 64
# A text, also one that never ends: each character is looked at once. Or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def without_depths(text: str) -> str:
    """The JSON text with `0` in place of each array and object below level MOST_LEVELS.

    The rest can then be parsed: one bad call does not make its whole batch unreadable.
    """
    kept: list[str] = []
    depth, end = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == MOST_LEVELS + 1:
                kept += [text[end : token.start()], "0"]
                end = len(text)
        elif token[0] in "]}":
            if depth == MOST_LEVELS + 1:
                end = token.end()
            depth -= 1
    return "".join([*kept, text[end:]])
