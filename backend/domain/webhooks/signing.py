"""Signatures by which receivers know that a request is ours, as Standard Webhooks describes them.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

_BEGINNING = "whsec_"
SECRET_BYTES = 32


def signed_headers(secrets: Iterable[str], webhook_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """The headers of a request with this body, sent at this time; one signature by each of the secrets."""
    timestamp = str(int(at.timestamp()))
    content = f"{webhook_id}.{timestamp}.".encode() + body
    signatures = (_signature(secret, content) for secret in secrets)
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def secret_text(key: bytes) -> str:
    """The secret as receivers are given it."""
    return _BEGINNING + base64.b64encode(key).decode()


def key_in(secret: str) -> bytes:
    """The key that this text of a secret stands for. Raises ValueError for what is none."""
    if not secret.startswith(_BEGINNING):
        raise ValueError("a secret begins with whsec_")
    return base64.b64decode(secret.removeprefix(_BEGINNING), validate=True)


def _signature(secret: str, content: bytes) -> str:
    return base64.b64encode(hmac.digest(key_in(secret), content, hashlib.sha256)).decode()
