"""Finds the API key of a request (contract, "Authentication")."""

from __future__ import annotations

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.call_limits import sender
from backend.json_api.error_table import ErrorRow
from backend.web.current import header

KEY_HEADER = "API-KEY"
_NAME = KEY_HEADER.lower().encode()


async def authenticate(kind: KeyKind, invalid: ErrorRow = error_table.KEY_INVALID) -> ApiKey:
    """The key in the current request's API-KEY header. It must be of this kind.

    Raises ApiError without a key, and with the row `invalid` if the key is unknown, revoked or of another
    kind. An address that sent too many such requests is refused (429), unless this process already knows its
    key.
    """
    text = sent_key()
    if not text:
        sender().count_without_key()
        raise ApiError(error_table.KEY_MISSING)
    key = await sender().find_key(text, kind)
    if key is None:
        raise ApiError(invalid)
    return key


def sent_key() -> str:
    """The text of the current request's API-KEY header; "" without one."""
    return header(_NAME) or ""
