"""Error pages for browsers. Other programs get the errors of the APIs in JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quart import Quart, Response, request
from werkzeug.exceptions import HTTPException, InternalServerError, TooManyRequests

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.frame.blueprint import dashboard, secure
from backend.dashboard.frame.failures import WORDS, error_words, note_failure
from backend.dashboard.frame.page import plain_page
from backend.domain.errors import InvalidField, ItemUnknown
from backend.storage.driver.mongo import StorageError, is_unreachable

API_PATHS = "/serviceCore/"
_KEPT_HEADERS = {"Allow", "Retry-After"}
JsonAnswer = Callable[[HTTPException], Awaitable[Response]]


def answer_browsers(app: Quart, otherwise: JsonAnswer) -> None:
    """Answer unknown paths with a page if a browser asks outside the APIs, else with `otherwise`."""

    async def unknown(error: HTTPException) -> Response:
        response = await _http(error) if _is_for_people() else await otherwise(error)
        response.vary.add("Accept")
        return response

    app.register_error_handler(404, unknown)
    app.register_error_handler(405, unknown)


def _is_for_people() -> bool:
    if request.path.startswith(API_PATHS):
        return False
    return request.blueprint == dashboard.name or "text/html" in request.headers.get("Accept", "")


@dashboard.errorhandler(HTTPException)
async def _http(error: HTTPException) -> Response:
    status = error.code or 500
    title, text = WORDS.get(status, (error.name, ""))
    description = error.description if status == 403 and error.description else text
    response = await _page(status, title, description or "")
    response.headers.update({n: value for n, value in error.get_headers() if n in _KEPT_HEADERS})
    return response


@dashboard.errorhandler(InternalServerError)
async def _fault(_: InternalServerError) -> Response:
    # Quart has logged the exception with its traceback.
    return await _page(500, *WORDS[500])


@dashboard.errorhandler(ItemUnknown)
async def _unknown_item(_: ItemUnknown) -> Response:
    return await _page(404, *WORDS[404])


@dashboard.errorhandler(InvalidField)
async def _impossible(error: InvalidField) -> Response:
    # Errors that only the query finds, such as too many rows. Forms show errors of their fields themselves.
    return await _page(422, *error_words(error))


@dashboard.errorhandler(TooManyWait)
async def _too_much(_: TooManyWait) -> Response:
    return await _http(TooManyRequests(retry_after=5))


@dashboard.errorhandler(StorageError)
async def _storage_failed(error: StorageError) -> Response:
    if not is_unreachable(error):
        raise error
    response = await _page(503, *WORDS[note_failure(error)])
    response.headers["Retry-After"] = "5"
    return response


async def _page(status: int, title: str, text: str) -> Response:
    return await secure(await plain_page("frame/error.html", status, title=title, text=text))
