"""Counts, times and logs each request."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from quart import Quart, Response, request

from backend.operations.logs import request_id
from backend.operations.metrics import REQUESTS, SECONDS
from backend.web.current import of_request

HEADER = "X-Request-Id"
_HEADER_NAME = HEADER.lower().encode()
_WRONG_METHOD = 405
# Only routes of the API, not requested paths: anyone can make up paths, with any content and without end.
UNKNOWN = "(unknown)"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_log = logging.getLogger("waylink.requests")


@dataclass(slots=True)
class _Timing:
    """When a request arrived, by `time.perf_counter`."""

    began: float = 0.0


def observe(api: Quart) -> None:
    """Give every request of the API an id, and count, time and log it."""
    api.before_request(_begin)
    api.after_request(_end)


class ObservedRoute:
    """An ASGI application for one path, whose requests are observed as those of the framework's routes."""

    def __init__(self, app: Any, route: str) -> None:
        self._app = app
        self._route = route

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Pass the request on, and note its answer."""
        began = time.perf_counter()
        sent_id = next((value for name, value in scope["headers"] if name == _HEADER_NAME), b"")
        own_id = _begin_with(sent_id.decode("latin-1"))

        async def send_noted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                status = message["status"]
                # A wrong method has no route, as with the framework.
                route = UNKNOWN if status == _WRONG_METHOD else self._route
                _note(scope["method"], route, status, time.perf_counter() - began)
                message["headers"] = [*message["headers"], (_HEADER_NAME, own_id.encode())]
            await send(message)

        await self._app(scope, receive, send_noted)


async def _begin() -> None:
    of_request(_Timing).began = time.perf_counter()
    _begin_with(request.headers.get(HEADER, ""))


async def _end(response: Response) -> Response:
    seconds = time.perf_counter() - of_request(_Timing).began
    route = request.url_rule.rule if request.url_rule else UNKNOWN
    _note(request.method, route, response.status_code, seconds)
    response.headers[HEADER] = request_id.get() or ""
    return response


def _begin_with(sent_id: str) -> str:
    """Give the request its id: the one that it came with if that is fit for logs, else a new one."""
    own_id = sent_id if _ID.fullmatch(sent_id) else _new_id()
    request_id.set(own_id)
    return own_id


def _new_id() -> str:
    # No secret: it need not ask the system for random numbers.
    return f"{random.getrandbits(128):032x}"


def _note(method: str, route: str, status: int, seconds: float) -> None:
    """Count, time and log a request."""
    method = method if method in _METHODS else "other"
    _counter(method, route, status).inc()
    _timer(route).observe(seconds)
    if _log.isEnabledFor(logging.INFO):
        facts = {"method": method, "route": route, "status": status}
        _log.info("Answered", extra=facts | {"milliseconds": round(seconds * 1000, 1)})


# There are only so many routes and statuses, and a look-up of labels takes longer than counting.
_counter = cache(REQUESTS.labels)
_timer = cache(SECONDS.labels)
