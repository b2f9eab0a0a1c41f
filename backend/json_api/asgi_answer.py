"""A JSON answer as the ASGI server takes it, for routes that are asked too often for the framework's."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from backend.concurrency.counted_log import CountedLog
from backend.json_api import error_table
from backend.json_api.api_error import ApiError, api_error_for

Headers = list[tuple[bytes, bytes]]
NO_STORE = (b"cache-control", b"no-store")
_JSON = (b"content-type", b"application/json")
# Made once: json.dumps makes an encoder for each value, unless it is one without options.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_log = CountedLog(logging.getLogger("waylink.api"))


@dataclass(slots=True)
class AsgiAnswer:
    """An HTTP answer."""

    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    async def send(self, send: Any) -> None:
        """Give the answer to the server."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


def json_answer(value: object, status: int = 200, headers: Headers | None = None) -> AsgiAnswer:
    """An answer of JSON, written as the framework writes it, that no cache stores."""
    return text_answer(_encode(value) + "\n", status, headers)


def text_answer(text: str, status: int = 200, headers: Headers | None = None) -> AsgiAnswer:
    """An answer of this JSON text, that no cache stores."""
    body = text.encode()
    length = (b"content-length", b"%d" % len(body))
    return AsgiAnswer(status, [_JSON, length, *(headers or []), NO_STORE], body)


def error_answer(error: Exception) -> AsgiAnswer:
    """The answer to a request that ended with this error: a row of the error table.

    A fault of the service is logged, and its reason not told.
    """
    api_error = api_error_for(error)
    if api_error is None:
        _log.error("A request failed", error=error)
        api_error = ApiError(error_table.SERVER_FAULT)
    headers = encoded(api_error.headers.items())
    return json_answer(api_error.body, api_error.status, headers)


def encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    """Headers in the form in which the server takes them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers]
