"""The Idempotency-Key header: a create-link request repeated with it does not create a second link."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from quart import request

from backend.domain.errors import InvalidField

HEADER = "Idempotency-Key"
PATTERN = r"[!-~]{1,255}"


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The caller's key for one request, and a fingerprint of the request's body."""

    text: str
    fingerprint: str


def read_idempotency_key(body: Mapping[str, object]) -> IdempotencyKey | None:
    """The Idempotency-Key of the current request with the fingerprint of `body`; None without the header.

    Raises InvalidField if the header is not a valid key.
    """
    text = request.headers.get(HEADER)
    if text is None:
        return None
    if not re.fullmatch(PATTERN, text):
        raise InvalidField(HEADER, "must be 1 to 255 visible ASCII characters")
    return IdempotencyKey(text, _fingerprint(body))


def _fingerprint(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
