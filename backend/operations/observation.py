"""Counts, times and logs each request."""

from __future__ import annotations

import logging
import re
import time
import uuid

from quart import Quart, Response, request

from backend.current import known
from backend.operations.logs import request_id
from backend.operations.metrics import REQUESTS, SECONDS

HEADER = "X-Request-Id"
# Only routes of the API, not requested paths: anyone can make up paths, with any content and without end.
UNKNOWN = "(unknown)"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_log = logging.getLogger("waylink.requests")


def observe(api: Quart) -> None:
    """Give every request of the API an id, and count, time and log it."""
    api.before_request(_begin)
    api.after_request(_end)


async def _begin() -> None:
    known().began = time.perf_counter()
    given = request.headers.get(HEADER, "")
    request_id.set(given if _ID.fullmatch(given) else str(uuid.uuid4()))


async def _end(response: Response) -> Response:
    seconds = time.perf_counter() - known().began
    route = request.url_rule.rule if request.url_rule else UNKNOWN
    method = request.method if request.method in _METHODS else "other"
    REQUESTS.labels(method, route, response.status_code).inc()
    SECONDS.labels(route).observe(seconds)
    response.headers[HEADER] = request_id.get() or ""
    facts = {"method": method, "route": route, "status": response.status_code}
    _log.info("Answered", extra=facts | {"milliseconds": round(seconds * 1000, 1)})
    return response
