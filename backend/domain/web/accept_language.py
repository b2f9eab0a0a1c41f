"""The Accept-Language header: which languages a visitor reads, and which of them best."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST = 512  # bytes of a header that are read
_WEIGHT = re.compile(r"[01](\.[0-9]{0,3})?")


def preferred_languages(header: bytes) -> Sequence[str]:
    """The language tags in lower case, the one with the greatest weight first.

    Of equal weights the one that stands first comes first. Those with weight 0 are not wanted; nor is what
    has a weight that is none.
    """
    preferences = [_preference(entry) for entry in header[:_LONGEST].decode("latin-1").split(",")]
    preferences.sort(key=lambda preference: -preference[1])
    return [tag for tag, weight in preferences if weight > 0]


def _preference(text: str) -> tuple[str, float]:
    """One entry of the header: language tag, and weight (0 if invalid)."""
    tag, _, weight = text.replace(" ", "").lower().partition(";q=")
    match = _WEIGHT.fullmatch(weight or "1")
    return tag, float(match[0]) if match else 0.0
