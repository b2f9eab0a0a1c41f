"""The routes of shared reports. They know no session: what they show depends on the token in their path.

So they are not the dashboard's own, whose cookies, forms and navigation belong to who is signed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quart import Blueprint, Response
from werkzeug.exceptions import HTTPException, InternalServerError

from backend.dashboard.frame.assets import asset_address
from backend.dashboard.frame.blueprint import SECURITY_HEADERS
from backend.dashboard.frame.failures import WORDS, note_failure
from backend.domain.errors import InvalidField
from backend.storage.driver.mongo import StorageError, is_unreachable
from backend.web.current import of_request
from backend.web.templates import render

_NO_FRAMES = "frame-ancestors 'none'"
# What a report may say about itself to search engines, other sites and caches.
_HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-store",
}
_WORDS = WORDS | {
    404: ("There is nothing here", "The report does not exist, or is not shared any more."),
    410: ("This report is closed", "Its time is over. Whoever shared it can open it again."),
    422: ("This report can't be shown", "Whoever shared it can see in the dashboard why."),
    429: ("That was too often", "Try again in a minute."),
}

shared = Blueprint("shared", "backend.dashboard", template_folder="templates")


@dataclass(slots=True)
class Frames:
    """Which sites may show the answer to the current request in a frame."""

    origins: Sequence[str] = ()


@shared.after_request
async def secure(response: Response) -> Response:
    """Add the headers that keep a report to those who have its URL."""
    response.headers.update(SECURITY_HEADERS | _HEADERS)
    if origins := of_request(Frames).origins:
        policy = SECURITY_HEADERS["Content-Security-Policy"]
        allowed = f"frame-ancestors {' '.join(origins)}"
        response.headers["Content-Security-Policy"] = policy.replace(_NO_FRAMES, allowed)
        del response.headers["X-Frame-Options"]  # which knows no list of sites
    return response


async def public_page(template: str, status: int = 200, **values: Any) -> Response:
    """A page with these values, in a frame of the dashboard's style without anything of a session."""
    html = await render(f"dashboard/shared/{template}", asset=asset_address, **values)
    return Response(html, status, mimetype="text/html")


@shared.errorhandler(HTTPException)
async def _http(error: HTTPException) -> Response:
    status = error.code or 500
    response = await _closed(status, *_WORDS.get(status, (error.name, "")))
    response.headers.update({n: value for n, value in error.get_headers() if n in {"Allow", "Retry-After"}})
    return response


@shared.errorhandler(InternalServerError)
async def _fault(_: InternalServerError) -> Response:
    # Quart has logged the exception with its traceback.
    return await _closed(500, *_WORDS[500])


@shared.errorhandler(InvalidField)
async def _impossible(_: InvalidField) -> Response:
    # What is wrong may name what else there is, such as the properties of events. The dashboard says it.
    return await _closed(422, *_WORDS[422])


@shared.errorhandler(StorageError)
async def _storage_failed(error: StorageError) -> Response:
    if not is_unreachable(error):
        raise error
    response = await _closed(503, *_WORDS[note_failure(error)])
    response.headers["Retry-After"] = "5"
    return response


async def _closed(status: int, title: str, text: str) -> Response:
    return await public_page("said.html", status, title=title, text=text)
