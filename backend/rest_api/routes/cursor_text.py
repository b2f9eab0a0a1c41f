"""Cursors of lists as text: a mark of the question that the list answers, and values."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from backend.domain.web.base64url import base64url, from_base64url


class RefusedCursor(ValueError):
    """The text is not a cursor of this list. The message completes a sentence that starts with "cursor"."""

    @classmethod
    def unknown(cls) -> RefusedCursor:
        """For a text that was not answered here."""
        return cls("is not one that was answered here")


def write_cursor(question: str, *values: object) -> str:
    """The text of these values. `question` is the filter and the order of the list."""
    text = json.dumps([_fingerprint(question), *values], separators=(",", ":"), ensure_ascii=False)
    return base64url(text.encode())


def read_cursor(text: str, question: str) -> list[Any]:
    """The values in such a text, which callers may have made up. Raises RefusedCursor, also for a cursor of
    another question."""
    values: list[Any]
    try:
        fingerprint, *values = json.loads(from_base64url(text))
    except (ValueError, TypeError, RecursionError):
        raise RefusedCursor.unknown() from None
    if fingerprint != _fingerprint(question):
        raise RefusedCursor("belongs to a list with other filters or another order")
    return values


def _fingerprint(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:16]
