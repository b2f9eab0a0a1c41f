"""The exception that ends a request with an error from the error table."""

from __future__ import annotations

import logging

from backend.domain.errors import InvalidField, MissingField
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.storage.mongo import StorageError, is_unreachable

_log = logging.getLogger("waylink.api")
# Seconds after which a caller may try again when the storage can't be reached.
RETRY_AFTER = 5


class Refusal(Exception):
    """Raised to answer the request with this row of the error table. `details` fill its placeholders."""

    def __init__(self, row: ErrorRow, **details: str) -> None:
        super().__init__(row.inner_message)
        self.row = row
        self.details = details
        self.headers: dict[str, str] = {}

    def with_headers(self, headers: dict[str, str]) -> Refusal:
        """The same refusal, whose answer also has these headers."""
        self.headers |= headers
        return self


def storage_unreachable() -> Refusal:
    """The refusal of a request that needs the storage while it is out of reach, or too much waits for it."""
    return Refusal(error_table.STORAGE_UNREACHABLE).with_headers({"Retry-After": str(RETRY_AFTER)})


def refusal_for(error: Exception) -> Refusal | None:
    """What a request is answered that ended with this error; None if the error is a fault of the service."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MissingField):
        return Refusal(error_table.FIELD_MISSING, field=error.field)
    if isinstance(error, InvalidField):
        return Refusal(error_table.FIELD_INVALID, message=str(error))
    if isinstance(error, StorageError) and is_unreachable(error):
        _log.warning("The storage can't be reached: %s", type(error).__name__)
        return storage_unreachable()
    return None
