"""Bytes as text in addresses."""

from __future__ import annotations

import pytest

from backend.domain.web.base64url import base64url, from_base64url


def test_base64url() -> None:
    """As browsers write bytes: no padding, and two other characters."""
    assert base64url(b"\xfb\xff") == "-_8"
    assert from_base64url("-_8") == b"\xfb\xff"
    for text in ("x", "ä"):
        with pytest.raises(ValueError, match=r"\w"):
            from_base64url(text)
