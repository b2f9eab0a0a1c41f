"""Bytes as text in addresses, and in what browsers send: Base64url without padding (RFC 4648, section 5)."""

from __future__ import annotations

import base64


def base64url(content: bytes) -> str:
    """The text of these bytes."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """The bytes of such a text; characters that it can't have are left out. Raises ValueError."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
