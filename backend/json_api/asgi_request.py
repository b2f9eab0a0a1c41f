"""A request as the ASGI server gives it, for routes that are asked too often for the framework's."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from backend.concurrency.bounded_cache import remember
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import PLAIN, Body, is_json
from backend.storage.driver.deadlines import deadline_paused

Scope = MutableMapping[str, Any]
_BODY_SECONDS = 60.0  # for which a body is waited for
_LONGEST_MEDIA_TYPE = 256
_MOST_LENGTH_DIGITS = 18  # of Content-Length


class ClientGone(Exception):
    """The client closed the connection before its request was complete: nobody waits for an answer."""


class AsgiRequest:
    """An HTTP request. Header names are in lower case; where a header comes twice, the first one counts."""

    __slots__ = ("_headers", "_receive", "method", "scope")

    def __init__(self, scope: Scope, receive: Any) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self._receive = receive
        self._headers: list[tuple[bytes, bytes]] = list(scope["headers"])

    def header(self, name: bytes) -> str:
        """The value of a header; "" if the request does not have it."""
        for header_name, value in self._headers:
            if header_name == name:
                return value.decode("latin-1")
        return ""

    def headers(self, name: bytes) -> list[str]:
        """The values of a header, in the order in which they came."""
        return [value.decode("latin-1") for header_name, value in self._headers if header_name == name]

    @property
    def media_type(self) -> str:
        """The media type of the body in lower case, without parameters; "" if unknown."""
        return _media_type(self.header(b"content-type"))

    async def read_json(self) -> dict[str, Any]:
        """The body as a JSON object, as `read_json_object` reads it. Raises ApiError."""
        if self.header(b"content-type") and not is_json(self.media_type):
            raise ApiError(error_table.MEDIA_TYPE_WRONG)
        return PLAIN.read(await self.read_bytes())

    async def read_bytes(self) -> bytes:
        """The body.

        Raises ApiError if it has more than 64 KiB (413), or takes too long (408).
        """
        length = self.header(b"content-length")
        body = Body(int(length) if length.isdecimal() and len(length) <= _MOST_LENGTH_DIGITS else 0)
        try:
            with deadline_paused():
                async with asyncio.timeout(_BODY_SECONDS):
                    while True:
                        message = await self._receive()
                        if message["type"] == "http.disconnect":
                            raise ClientGone
                        body.add(message.get("body", b""))
                        if not message.get("more_body", False):
                            return body.data
        except TimeoutError:
            raise ApiError(error_table.BODY_TOO_SLOW) from None


@remember(most_bytes=100_000, longest_key=_LONGEST_MEDIA_TYPE)
def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()
