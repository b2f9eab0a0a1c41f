"""The words on error pages, by HTTP status."""

from __future__ import annotations

import logging
from http import HTTPStatus

from backend.concurrency.counted_log import CountedLog
from backend.domain.errors import InvalidField
from backend.storage.driver.mongo import is_unreachable

_log = CountedLog(logging.getLogger("waylink.dashboard"))
# A title, and a sentence about what can be done.
WORDS: dict[int, tuple[str, str]] = {
    400: ("That request makes no sense", "The form could not be read. Go back, and try again."),
    403: ("That is not allowed", ""),
    404: ("There is nothing here", "The page does not exist, or it belongs to another organization."),
    405: ("That does not work here", "This address does not answer to such a request."),
    408: ("That took too long", "The form did not arrive in time. Try again."),
    413: ("That is too much", "The form is larger than any of ours can be."),
    415: ("That is no form", "This address takes the dashboard's own forms only."),
    429: ("That is too much at once", "Your organization's work waits already. Try again in a moment."),
    500: ("Something went wrong", "The fault is the service's, and it is in its log. Try again."),
    503: ("The service can't reach its storage", "Nothing is lost. Try again in a moment."),
    504: ("That took too long", "Ask for less, such as a shorter period, or try again."),
}


def note_failure(error: Exception) -> int:
    """Log an error that stopped a page, and return the HTTP status for it."""
    if isinstance(error, TimeoutError):
        _log.warning("A page took too long")
        return HTTPStatus.GATEWAY_TIMEOUT
    if is_unreachable(error):
        _log.warning(f"The storage can't be reached: {type(error).__name__}")
        return HTTPStatus.SERVICE_UNAVAILABLE
    _log.error("A page failed", error=error)
    return HTTPStatus.INTERNAL_SERVER_ERROR


def error_words(error: Exception) -> tuple[str, str]:
    """The title and the sentence that explain to a person which error stopped the page.

    Logs the error, unless it is an InvalidField: then the person asked for too much.
    """
    if isinstance(error, InvalidField):
        return "That can't be shown", f"{error}."
    return WORDS[note_failure(error)]
