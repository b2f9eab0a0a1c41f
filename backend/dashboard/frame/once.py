"""Forms that make something: sent twice from one page, they make it once.

Each page gives its forms a number (ONCE). What a form does is noted by that number and by what was typed, in
the transaction that does it, and then its answer is kept. The same form with the same number, from a double
click, a network that sends again, or "Back", gets that answer. Whoever goes back and changes a field wants
another thing.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial, wraps
from typing import Any, TypeVar, cast

from cryptography.fernet import Fernet
from quart import Response, redirect, request, url_for

from backend.dashboard.frame.blueprint import org_id, user
from backend.dashboard.frame.form import form
from backend.dashboard.frame.page_before import page_before
from backend.dashboard.frame.session_cookie import cookie_token
from backend.storage.driver.guards import guard_next_transaction
from backend.storage.driver.mongo import ClientSession, StorageError, run_to_the_end
from backend.storage.links.writing.idempotency import (
    ANSWER_UNKNOWN,
    KeyUsed,
    find_earlier_request,
    note_answer,
    note_request,
)
from backend.web.current import resources

ViewT = TypeVar("ViewT", bound=Callable[..., object])
# The field with the number.
ONCE = "form_once"
_MOST_BYTES = 1_000_000  # of an answer that is kept
# How long a form waits for the answer to the same form, which is at work.
_WAIT_SECONDS = 3.0
_PAUSE_SECONDS = 0.05


def once(view: ViewT) -> ViewT:
    """Mark a view whose form makes something new at each call, in one transaction.

    The form is carried out to its end, and its answer is kept, also if the browser has left: at a second
    click, a browser gives up the first request, and shows the answer to the second.
    """

    @wraps(view)
    async def carry_out(**arguments: object) -> Response:
        return await run_to_the_end(_carry_out(partial(view, **arguments)))

    carry_out.is_once = True  # type: ignore[attr-defined]
    return cast(ViewT, carry_out)


def new_number() -> str:
    """The number of the forms of a page."""
    return secrets.token_urlsafe(12)


async def _carry_out(view: Callable[..., Any]) -> Response:
    if not form().get(ONCE):
        return cast(Response, await view())
    key = f"form {_fingerprint()}"
    if answer := await _earlier_answer(key):
        return answer
    guarded = guard_next_transaction(partial(_note, key, resources().clock()))
    try:
        response: Response = await view()
    except KeyUsed:  # it came while the same form was at work
        answer = await _earlier_answer(key)
        assert answer  # the request was noted, and is for a day
        return answer
    finally:
        guarded.end()  # for what the request has left at work
    if guarded.is_done and response.status_code in {200, 303}:
        await _keep_answer(key, response)
    return response


async def _note(key: str, now: datetime, session: ClientSession) -> None:
    await note_request(resources().database, session, org_id(), key, now)


def _fingerprint() -> str:
    """A hash of who sent what to where, from which page, keyed with the session's token.

    Fields may be passwords, which nobody can try by it.
    """
    text = json.dumps([user().id, request.full_path, sorted(form().items())]).encode()
    return hmac.new(cookie_token().encode(), text, hashlib.sha256).hexdigest()


async def _earlier_answer(key: str) -> Response | None:
    """What the form was answered; None if it was not carried out yet.

    If it still is at work, the answer is awaited. Where none was kept, the page of the form says so.
    """
    give_up = time.monotonic() + _WAIT_SECONDS
    while (earlier := await find_earlier_request(resources().database, org_id(), key)) and earlier.answer:
        status, kept = earlier.answer
        if status != ANSWER_UNKNOWN:
            return _answered(status, json.loads(_box(key).decrypt(kept.encode())))
        if time.monotonic() > give_up:
            page = page_before() or url_for("dashboard.home")
            return _answered(303, {"location": f"{page}{'&' if '?' in page else '?'}notice=form-was-done"})
        await asyncio.sleep(_PAUSE_SECONDS)
    return None


def _answered(status: int, told: Mapping[str, str]) -> Response:
    if location := told.get("location"):
        return redirect(location, 303)  # type: ignore[return-value]
    return Response(told["body"], status, mimetype="text/html")


async def _keep_answer(key: str, response: Response) -> None:
    """Keep the answer of a form that was carried out. It may show a secret: only the session has the key."""
    location = response.headers.get("Location", "")
    body = "" if location else str(await response.get_data(as_text=True))
    if len(body) <= _MOST_BYTES:
        told = json.dumps({"location": location, "body": body}).encode()
        kept = _box(key).encrypt(told).decode()
        with suppress(StorageError):  # the form is done, which is what the answer is to say
            await note_answer(resources().database, org_id(), key, response.status_code, kept)


def _box(key: str) -> Fernet:
    """What the answer to the form with this key is kept in."""
    secret = hmac.new(cookie_token().encode(), f"waylink answer {key}".encode(), hashlib.sha256).digest()
    return Fernet(base64.urlsafe_b64encode(secret))
