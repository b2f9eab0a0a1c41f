"""What a page says."""

from __future__ import annotations

import re
from html import unescape

import httpx


def words_of(answer: httpx.Response) -> str:
    """The text of the page's main part, in one line."""
    text = re.sub(r"<[^>]*>", " ", answer.text.partition("<main")[2])
    return " ".join(unescape(text).split())
