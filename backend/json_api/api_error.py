"""The exception that ends a request with an error from the error table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from backend.concurrency.counted_log import CountedLog
from backend.concurrency.fair_thread import TooManyWait
from backend.concurrency.group_commit import NotStored
from backend.domain.errors import FieldError, MissingField
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.storage.analytics.question import FactsNotReady, NoAnswer, NotNow, TooMuch
from backend.storage.driver.mongo import StorageError, is_unreachable

_log = CountedLog(logging.getLogger("waylink.api"))
# Seconds after which a caller may try again when the storage can't be reached, or too much waits.
RETRY_AFTER = 5


class ApiError(Exception):
    """Raised to answer the request with this row of the error table. `details` fill its placeholders."""

    def __init__(self, row: ErrorRow, **details: str) -> None:
        super().__init__(row.inner_message)
        self.row = row
        self.details = details
        self.headers: dict[str, str] = {}
        self._others: Sequence[ApiError] = ()
        self._is_to_the_letter = False

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return self.row.status

    @property
    def body(self) -> dict[str, Any]:
        """The JSON body of the answer (docs/decisions/rest-errors.md).

        Where fields are at fault, it names them, all in a list; to the letter, it is the contract's row.
        """
        if self._is_to_the_letter or not self.row.at:
            return self.row.body(**self.details)
        return self.row.body_of_fields(
            [error.row.field_error(**error.details) for error in (self, *self._others)]
        )

    def to_the_letter(self) -> ApiError:
        """The same error, told as the contract prints it: one error, and a code in place of its field."""
        self._is_to_the_letter = True
        return self

    def with_others(self, others: Sequence[ApiError]) -> ApiError:
        """The same error, which also tells those of the request's other fields."""
        self._others = others
        return self

    def with_headers(self, headers: dict[str, str]) -> ApiError:
        """The same error, whose answer also has these headers."""
        self.headers |= headers
        return self


def storage_unreachable() -> ApiError:
    """The error for a request that the storage can't serve: it is out of reach, or too many requests wait."""
    return ApiError(error_table.STORAGE_UNREACHABLE).with_headers({"Retry-After": str(RETRY_AFTER)})


def _too_much_waits() -> ApiError:
    return ApiError(error_table.TOO_MUCH_WAITS).with_headers({"Retry-After": str(RETRY_AFTER)})


def api_error_for(error: Exception) -> ApiError | None:
    """The API's error for whatever a request raised; None if `error` is a fault of the service."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, FieldError):
        return _of_field(error).with_others([_of_field(other) for other in error.others])
    if isinstance(error, StorageError) and is_unreachable(error):
        _log.warning(f"The storage can't be reached: {type(error).__name__}")
        return storage_unreachable()
    if isinstance(error, NotStored):
        return storage_unreachable()
    if isinstance(error, FactsNotReady | NoAnswer):
        return _without_figures(error)
    return _too_much_waits() if isinstance(error, TooManyWait) else None


def _without_figures(error: FactsNotReady | NoAnswer) -> ApiError:
    """The error for figures that can't be computed now. Only the service's log says what went wrong."""
    message = str(error)
    if not isinstance(error, FactsNotReady | NotNow | TooMuch):
        refused = "A question about figures was not answered"
        _log.error(refused, f"{refused}: {error}")
        message = "The service can't answer this now; its log says why"
    seconds = error.retry_after if isinstance(error, FactsNotReady) else RETRY_AFTER
    api_error = ApiError(error_table.FIGURES_UNAVAILABLE, message=message)
    return api_error.with_headers({"Retry-After": str(seconds)})


def _of_field(error: FieldError) -> ApiError:
    if isinstance(error, MissingField):
        return ApiError(error_table.FIELD_MISSING, field=error.field)
    return ApiError(error_table.FIELD_INVALID, message=str(error), field=error.field)
