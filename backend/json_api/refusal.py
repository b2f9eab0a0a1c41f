"""The exception that ends a request with an error from the error table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from backend.domain.errors import FieldError, MissingField
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.storage.analytics.question import FactsNotReady, NoAnswer, TooMuch
from backend.storage.driver.mongo import StorageError, is_unreachable

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
        self._others: Sequence[Refusal] = ()
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
            [each.row.field_error(**each.details) for each in (self, *self._others)]
        )

    def to_the_letter(self) -> Refusal:
        """The same refusal, told as the contract prints it: one error, and a code in place of its field."""
        self._is_to_the_letter = True
        return self

    def with_others(self, others: Sequence[Refusal]) -> Refusal:
        """The same refusal, which also tells those of the request's other fields."""
        self._others = others
        return self

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
    if isinstance(error, FieldError):
        return _of_field(error).with_others([_of_field(each) for each in error.others])
    if isinstance(error, StorageError) and is_unreachable(error):
        _log.warning("The storage can't be reached: %s", type(error).__name__)
        return storage_unreachable()
    if isinstance(error, FactsNotReady | NoAnswer):
        return _without_figures(error)
    return None


def _without_figures(error: FactsNotReady | NoAnswer) -> Refusal:
    """What is answered where figures can't be had now; what went wrong on this host is for its log alone."""
    message = str(error)
    if not isinstance(error, FactsNotReady | TooMuch):
        _log.error("A question about figures was not answered: %s", error)
        message = "The service can't answer this now; its log says why"
    seconds = error.retry_after if isinstance(error, FactsNotReady) else RETRY_AFTER
    refusal = Refusal(error_table.FIGURES_UNAVAILABLE, message=message)
    return refusal.with_headers({"Retry-After": str(seconds)})


def _of_field(error: FieldError) -> Refusal:
    if isinstance(error, MissingField):
        return Refusal(error_table.FIELD_MISSING, field=error.field)
    return Refusal(error_table.FIELD_INVALID, message=str(error), field=error.field)
