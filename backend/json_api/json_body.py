"""Reads the JSON object in a request's body, with limits on its type, size and depth."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from quart import request

from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import of_request

# More than any field may have, so that what is cut here is refused by its field's own rule.
MOST_LEVELS = 64
# A text, also one that never ends: each character is looked at once. Or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def without_depths(text: str) -> str:
    """The JSON text with `0` in place of each array and object below level MOST_LEVELS.

    The rest can then be parsed: one bad call does not make its whole batch unreadable.
    """
    kept: list[str] = []
    depth, end = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == MOST_LEVELS + 1:
                kept += [text[end : token.start()], "0"]
                end = len(text)
        elif token[0] in "]}":
            if depth == MOST_LEVELS + 1:
                end = token.end()
            depth -= 1
    return "".join([*kept, text[end:]])


MAX_BODY_BYTES = 64 * 1024


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class JsonReader:
    """Reads JSON objects. `parse_float` turns the text of a number with decimals into a value."""

    def __init__(self, parse_float: Callable[[str], Any] = float) -> None:
        # Made once: json.loads makes a decoder for each text, unless it is one without options.
        self._decode = json.JSONDecoder(parse_float=parse_float, parse_constant=_refuse_constant).decode

    def read(self, data: bytes) -> dict[str, Any]:
        """The JSON object in these bytes (UTF-8). Raises ApiError for anything else.

        What is nested deeper than any field allows may be cut off below MOST_LEVELS.
        """
        try:
            text = data.decode("utf-8")
            try:
                value = self._decode(text)
            except RecursionError:
                value = self._decode(without_depths(text))
        except ValueError:  # bad JSON or UTF-8, a number of too many digits
            raise ApiError(error_table.BODY_NOT_AN_OBJECT) from None
        if not isinstance(value, dict):
            raise ApiError(error_table.BODY_NOT_AN_OBJECT)
        return value


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("an exponent beyond what decimals hold") from None


# Its numbers are as they were written: money must not become a float.
EXACT = JsonReader(parse_float=_decimal)
PLAIN = JsonReader()


async def read_json_object(most: int = MAX_BODY_BYTES, reader: JsonReader = PLAIN) -> dict[str, Any]:
    """The body of the current request as a JSON object.

    Raises ApiError for another media type (415), more than `most` bytes (413), or anything but a JSON object
    (400). A missing Content-Type is taken for JSON.
    """
    if request.content_type and not is_json(request.mimetype):
        raise ApiError(error_table.MEDIA_TYPE_WRONG)
    return reader.read(await read_bytes(most))


async def read_bytes(most: int = MAX_BODY_BYTES) -> bytes:
    """The body of the current request. Raises ApiError (413) if it has more than `most` bytes."""
    # When the body is read in pieces, the framework's own time limit does not apply.
    body = Body(request.content_length or 0, most)
    try:
        with deadline_paused():
            async with asyncio.timeout(request.body_timeout):
                async for piece in request.body:
                    body.add(piece)
    except TimeoutError:
        raise ApiError(error_table.BODY_TOO_SLOW) from None
    return body.data


@dataclass(slots=True)
class _SentBody:
    """How many bytes of the current request's body have come."""

    bytes: int = 0


def body_bytes() -> int:
    """How many bytes the body of the current request has, as far as it was read."""
    return of_request(_SentBody).bytes


class Body:
    """The body of a request, of which Content-Length has `announced` so many bytes, as its pieces come in."""

    __slots__ = ("_most", "_pieces", "_size")

    def __init__(self, announced: int, most: int = MAX_BODY_BYTES) -> None:
        """Raises ApiError (413) if `announced` is more than `most` bytes."""
        if announced > most:
            raise _too_large(most)
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece. Raises ApiError (413) once all pieces have more than `most` bytes."""
        self._size += len(piece)
        if self._size > self._most:
            raise _too_large(self._most)
        of_request(_SentBody).bytes = self._size
        self._pieces.append(piece)

    @property
    def data(self) -> bytes:
        """All pieces so far."""
        return b"".join(self._pieces)


def _too_large(most: int) -> ApiError:
    return ApiError(error_table.BODY_TOO_LARGE, message=str(most))


def is_json(media_type: str) -> bool:
    """Whether a body of this media type, in lower case, is taken for JSON."""
    return media_type == "application/json" or media_type.endswith("+json")
