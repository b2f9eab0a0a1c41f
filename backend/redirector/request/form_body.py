"""Reads a form that a visitor sent."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs

from backend.redirector.request.visit import Visit

_FORM = b"application/x-www-form-urlencoded"
_MOST_FORM_BYTES = 8192
_SEND_SECONDS = 10.0  # seconds for a browser to send the form


class UnreadableForm(ValueError):
    """The request is no form."""


async def read_form(visit: Visit, receive: Any) -> dict[str, str]:
    """The fields of the form, without empty ones. Raises UnreadableForm."""
    if visit.headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != _FORM:
        raise UnreadableForm("It must be sent as a form.")
    body = bytearray()
    try:
        async with asyncio.timeout(_SEND_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if message["type"] == "http.disconnect" or len(body) > _MOST_FORM_BYTES:
                    raise UnreadableForm("The form is incomplete, or too large.")
                if not message.get("more_body"):
                    break
        fields = parse_qs(body.decode("ascii"), max_num_fields=10)
    except (TimeoutError, ValueError) as error:
        raise UnreadableForm("The form is incomplete, or too large.") from error
    return {name: values[0] for name, values in fields.items()}
