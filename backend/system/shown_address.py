"""Addresses of servers as they may be printed: without what lets somebody in."""

from __future__ import annotations

import re

# What stands for a password or a token.
HIDDEN = "***"
# Whatever stands before the last @: an unescaped password may have any character.
_IN_ADDRESS = re.compile(r"(://[^:/?#@]*:).*@", re.DOTALL)
_IN_OPTION = re.compile(
    r"([?&][^=&]*(?:password|passwd|pwd|token|secret|properties)[^=&]*=)[^&]*", re.IGNORECASE
)
# A connection string of PostgreSQL: a value in quotes, or one without blanks (libpq, 34.1.1.1).
_IN_KEYWORDS = re.compile(
    r"((?:^|\s)\w*(?:password|passwd)\w*\s*=\s*)(?:'(?:[^'\\]|\\.)*'?|(?:[^\s\\']|\\.)+)",
    re.IGNORECASE | re.DOTALL,
)


def shown_address(text: str) -> str:
    """The address, whatever kind it is of, with `***` for its passwords and tokens."""
    if "://" not in text:
        return _IN_KEYWORDS.sub(rf"\1{HIDDEN}", text)
    return _IN_OPTION.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1{HIDDEN}@", text))
