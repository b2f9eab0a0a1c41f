"""Which key sent a request (contract, "Authentication")."""

from __future__ import annotations

from quart import request

from backend.current import resources
from backend.domain.api_keys import ApiKey, KeyKind
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.json_api.refusal import Refusal

KEY_HEADER = "API-KEY"


async def authenticate(kind: KeyKind, invalid: ErrorRow = error_table.KEY_INVALID) -> ApiKey:
    """The key in the current request's API-KEY header.

    Refuses a request without one, and with `invalid` one that no key of this kind is: unknown, revoked, or of
    another kind.
    """
    text = request.headers.get(KEY_HEADER, "")
    if not text:
        raise Refusal(error_table.KEY_MISSING)
    key = await resources().keys.find(text, kind)
    if key is None:
        raise Refusal(invalid)
    return key
