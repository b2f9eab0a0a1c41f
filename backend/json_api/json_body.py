"""Reads the JSON object in a request's body, with limits on its type, size and depth."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, Callable
from typing import Any, NoReturn

from quart import request

from backend.json_api import error_table
from backend.json_api.deep_json import without_depths
from backend.json_api.refusal import Refusal

MAX_BODY_BYTES = 64 * 1024


async def read_json_object() -> dict[str, Any]:
    """The body of the current request as a JSON object.

    Raises Refusal for another media type (415), more than 64 KiB (413), or anything but a JSON object (400).
    A missing Content-Type is taken for JSON.
    """
    if request.content_type and not _is_json(request.mimetype):
        raise Refusal(error_table.MEDIA_TYPE_WRONG)
    return parse_json_object(await read_bytes())


def parse_json_object(data: bytes, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The JSON object in these bytes (UTF-8). Raises Refusal for anything else.

    `parse_float` turns the text of a number with decimals into a value. What is nested deeper than any field
    allows may be cut off below MOST_LEVELS.
    """
    try:
        text = data.decode("utf-8")
        try:
            value = _parse(text, parse_float)
        except RecursionError:
            value = _parse(without_depths(text), parse_float)
    except ValueError:  # bad JSON or UTF-8, a number of too many digits
        raise Refusal(error_table.BODY_NOT_AN_OBJECT) from None
    if not isinstance(value, dict):
        raise Refusal(error_table.BODY_NOT_AN_OBJECT)
    return value


def _parse(text: str, parse_float: Callable[[str], Any]) -> object:
    return json.loads(text, parse_constant=_refuse_constant, parse_float=parse_float)


async def read_bytes() -> bytes:
    """The body of the current request. Raises Refusal (413) if it has more than 64 KiB."""
    # When the body is read in pieces, the framework's own time limit does not apply.
    return await read_pieces(request.body, request.content_length or 0, request.body_timeout)


async def read_pieces(pieces: AsyncIterable[bytes], announced: int, seconds: float | None) -> bytes:
    """The body that comes in these pieces, of which Content-Length has `announced` so many bytes.

    Raises Refusal if it has more than 64 KiB (413), or takes longer than this many seconds (408).
    """
    data = bytearray()
    if announced > MAX_BODY_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(seconds):
            async for piece in pieces:
                data += piece
                if len(data) > MAX_BODY_BYTES:
                    raise _too_large()
    except TimeoutError:
        raise Refusal(error_table.BODY_TOO_SLOW) from None
    return bytes(data)


def _too_large() -> Refusal:
    return Refusal(error_table.BODY_TOO_LARGE, message=str(MAX_BODY_BYTES))


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
