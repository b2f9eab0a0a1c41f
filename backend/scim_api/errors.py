"""Errors in SCIM's shape (RFC 7644, section 3.12), for what goes wrong before or beside the protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from quart import Blueprint, Response, request
from werkzeug.exceptions import HTTPException, InternalServerError

from backend.domain.accounts.provisioning.people import SCIM_PATH
from backend.json_api.api_error import ApiError, api_error_for
from backend.storage.driver.mongo import StorageError

MEDIA_TYPE = "application/scim+json"
HttpAnswer = Callable[[HTTPException], Awaitable[Response]]
_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error"
_KEPT_HEADERS = {"Allow", "Retry-After"}


class Unauthorized(Exception):
    """The request has no token that is in force. The message is for the caller."""


def answer_errors_of(blueprint: Blueprint) -> None:
    """Make the blueprint answer all errors in SCIM's shape, without internal details."""
    blueprint.register_error_handler(Unauthorized, _unauthorized)
    blueprint.register_error_handler(ApiError, _api_error)
    blueprint.register_error_handler(StorageError, _api_error)
    blueprint.register_error_handler(HTTPException, _http_error)
    blueprint.register_error_handler(InternalServerError, _fault)


def or_in_scim(otherwise: HttpAnswer) -> HttpAnswer:
    """How requests are answered that no route takes, and so no blueprint: in SCIM's shape below its path,
    elsewhere by `otherwise`."""

    async def answer(error: HTTPException) -> Response:
        is_scim = request.path.startswith(f"{SCIM_PATH}/")
        return await (_http_error(error) if is_scim else otherwise(error))

    return answer


def _error_answer(status: int, detail: str, headers: dict[str, str]) -> Response:
    body = {"schemas": [_SCHEMA], "status": str(status), "detail": detail}
    response = Response(json.dumps(body), status, content_type=MEDIA_TYPE)
    response.headers.update(headers)
    return response


async def _unauthorized(error: Unauthorized) -> Response:
    return _error_answer(401, str(error), {"WWW-Authenticate": 'Bearer realm="SCIM"'})


async def _api_error(error: Exception) -> Response:
    api_error = api_error_for(error)
    if api_error is None:
        raise error
    return _error_answer(api_error.status, api_error.body["error"]["errorMessage"], api_error.headers)


async def _http_error(error: HTTPException) -> Response:
    kept = {name: value for name, value in error.get_headers() if name in _KEPT_HEADERS}
    return _error_answer(error.code or 500, error.name, kept)


async def _fault(_: InternalServerError) -> Response:
    # Quart has logged the exception with its traceback.
    return _error_answer(500, "The request failed through a fault of the service", {})
