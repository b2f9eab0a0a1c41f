"""Reads and checks the form in a request's body."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from quart import abort, request

from backend.dashboard.frame.session_cookie import cookie_token
from backend.domain.accounts.sessions import organization_of_form
from backend.domain.ids import OrgId
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import of_request

# The longest field is an address of 8 KiB, each byte of which may be percent-encoded.
MAX_FORM_BYTES = 128 * 1024
_MOST_FIELDS = 200
FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
# The field of a form that was refused once, and is sent again as it was kept.
KEPT_FORM = "kept_form"
_MEDIA_TYPE = "application/x-www-form-urlencoded"
_FROM_ELSEWHERE = (
    "This form is too old, or comes from another site. Go back, load the page anew, and try again."
)


@dataclass(slots=True)
class _SentForm:
    """The fields of the form that a request came with; None until it was checked.

    It was `written_for` this organization, "" if for none.
    """

    fields: dict[str, str] | None = None
    written_for: str = ""


async def check_form(most_bytes: int = MAX_FORM_BYTES) -> None:
    """Read the form of the current request, of at most so many bytes.

    Refuses it if it was not sent from one of the dashboard's pages.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        abort(403, _FROM_ELSEWHERE)
    fields = await read_fields(most_bytes)
    written_for = organization_of_form(fields.pop(FORM_TOKEN, ""), cookie_token())
    if written_for is None:
        abort(403, _FROM_ELSEWHERE)
    sent = of_request(_SentForm)
    sent.fields, sent.written_for = fields, written_for


async def read_fields(most_bytes: int = MAX_FORM_BYTES) -> dict[str, str]:
    """The fields of the form in the body of the current request, whoever sent it.

    Answers 415 for another media type, and 400, 408 or 413 for a form that can't be read.
    """
    if request.mimetype != _MEDIA_TYPE:
        abort(415)
    return _parse(await _read_bytes(most_bytes))


def is_form_sent() -> bool:
    """Whether the current request came with a form, which was checked."""
    return of_request(_SentForm).fields is not None


def organization_of_sent() -> OrgId:
    """The organization for which the current request's form was written; "" if for none."""
    return OrgId(of_request(_SentForm).written_for)


def sends_kept_form() -> bool:
    """Whether the sender saw that the form was refused, and sends it again."""
    return KEPT_FORM in form()


def form() -> Mapping[str, str]:
    """The fields of the current request's form; empty if it has none.

    If a field is given more than once, the last one counts.
    """
    return of_request(_SentForm).fields or {}


def field(name: str) -> str:
    """A field of the form without spaces around it; "" if it is missing."""
    return form().get(name, "").strip()


def _parse(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:  # not ASCII, not UTF-8 behind the percent signs, too many fields
        abort(400)
    # Browsers end the lines of a text with CR LF.
    return {name: value.replace("\r\n", "\n") for name, value in pairs}


async def _read_bytes(most: int) -> bytes:
    data = bytearray()
    try:
        with deadline_paused():
            async with asyncio.timeout(request.body_timeout):
                async for chunk in request.body:
                    data += chunk
                    if len(data) > most:
                        abort(413)
    except TimeoutError:
        abort(408)
    return bytes(data)


def digest_of(seen: Any) -> str:
    """A hash of what a page has shown. Its form sends it, so that only what was seen is changed."""
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]
