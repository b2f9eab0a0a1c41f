"""Turns every error into an answer from the error table."""

from __future__ import annotations

from quart import Quart, Response, jsonify
from werkzeug.exceptions import HTTPException, InternalServerError

from backend.concurrency.fair_thread import TooManyWait
from backend.concurrency.group_commit import NotStored
from backend.domain.errors import FieldError
from backend.json_api import error_table
from backend.json_api.api_error import ApiError, api_error_for
from backend.json_api.error_table import ErrorRow
from backend.storage.driver.mongo import StorageError

_KEPT_HEADERS = {"Allow", "Location", "Retry-After"}
_BY_STATUS = {
    404: error_table.PATH_UNKNOWN,
    405: error_table.METHOD_NOT_ALLOWED,
    408: error_table.BODY_TOO_SLOW,
    413: error_table.BODY_TOO_LARGE,
    415: error_table.MEDIA_TYPE_WRONG,
}


def answer_errors(app: Quart) -> None:
    """Make the app answer every error in shape A or B (contract, "Errors"), without internal details."""
    for kind in (ApiError, FieldError, StorageError, NotStored, TooManyWait):
        app.register_error_handler(kind, _answer_error)
    app.register_error_handler(HTTPException, answer_http_error)
    app.register_error_handler(InternalServerError, _fault)


def error_answer(api_error: ApiError) -> Response:
    """The answer to a request that ended with this error."""
    response = jsonify(api_error.body)
    response.status_code = api_error.status
    response.headers.update(api_error.headers)
    return keep_out_of_caches(response)


def keep_out_of_caches(response: Response, *varies_by: str) -> Response:
    """The response, marked so that no cache stores it.

    `varies_by` names the request headers that the answer depends on.
    """
    response.headers["Cache-Control"] = "no-store"
    response.vary.update(varies_by)
    return response


async def _answer_error(error: Exception) -> Response:
    api_error = api_error_for(error)
    if api_error is None:
        raise error
    return error_answer(api_error)


async def answer_http_error(error: HTTPException) -> Response:
    """The answer to an HTTP error that Quart raised, such as 404 for an unknown path."""
    row = _BY_STATUS.get(error.code or 500)
    if row is None:
        status = error.code or 500
        row = ErrorRow(status, status, error.name, error.name, error.name.upper().replace(" ", "_"))
    kept = {name: value for name, value in error.get_headers() if name in _KEPT_HEADERS}
    return error_answer(ApiError(row).with_headers(kept))


async def _fault(error: InternalServerError) -> Response:
    # Quart has logged the exception with its traceback.
    return error_answer(ApiError(error_table.SERVER_FAULT))
