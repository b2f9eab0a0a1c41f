"""Fills words in braces of the service's own texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = re.compile(r"\{(\w+)\}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with these values in the place of its words in braces; other words stay.

    A value is never filled itself: what somebody typed may have words in braces, too.
    """
    return _WORD.sub(lambda found: values.get(found[1], found[0]), text)
