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
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from cryptography.fernet import Fernet
from quart import Response, current_app, redirect, request, url_for

from backend.dashboard.frame.blueprint import dashboard, org_id, user
from backend.dashboard.frame.form import form, is_form_sent
from backend.dashboard.frame.page_before import page_before
from backend.dashboard.frame.session_cookie import cookie_token
from backend.storage.driver.guards import Guarded, guard_next_transaction
from backend.storage.driver.mongo import ClientSession, StorageError
from backend.storage.links.writing.idempotency import (
    ANSWER_UNKNOWN,
    KeyUsed,
    find_earlier_request,
    note_answer,
    note_request,
)
from backend.web.current import of_request, resources

ViewT = TypeVar("ViewT", bound=Callable[..., object])
# The field with the number.
ONCE = "form_once"
_MOST_BYTES = 1_000_000  # of an answer that is kept
# How long a form waits for the answer to the same form, which is at work.
_WAIT_SECONDS = 3.0
_PAUSE_SECONDS = 0.05


@dataclass(slots=True)
class _Sent:
    """The form of the current request: its `key` among the organization's requests, and what guards it."""

    key: str = ""
    guarded: Guarded | None = None


def once(view: ViewT) -> ViewT:
    """Mark a view whose form makes something new at each call, in one transaction."""
    view.is_once = True  # type: ignore[attr-defined]
    return view


def new_number() -> str:
    """The number of the forms of a page."""
    return secrets.token_urlsafe(12)


@dashboard.before_request
async def _once() -> Response | None:
    view: Any = current_app.view_functions[request.endpoint or ""]
    if not hasattr(view, "is_once") or not is_form_sent() or not form().get(ONCE):
        return None
    sent = of_request(_Sent)
    sent.key = f"form {_fingerprint()}"
    if answer := await _earlier_answer(sent.key):
        return answer
    noted = partial(_note, sent.key, resources().clock())
    sent.guarded = guard_next_transaction(noted)
    return None


async def _note(key: str, now: datetime, session: ClientSession) -> None:
    await note_request(resources().database, session, org_id(), key, now)


def _fingerprint() -> str:
    """A hash of who sent what to where, from which page, keyed with the session's token.

    Fields may be passwords, which nobody can try by it.
    """
    text = json.dumps([user().id, request.full_path, sorted(form().items())]).encode()
    return hmac.new(cookie_token().encode(), text, hashlib.sha256).hexdigest()


@dashboard.errorhandler(KeyUsed)
async def _carried_out(_: KeyUsed) -> Response:
    """Answer a form that came while the same form was at work."""
    answer = await _earlier_answer(of_request(_Sent).key)
    assert answer  # the request was noted, and is for a day
    return answer


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


@dashboard.after_request
async def _keep_answer(response: Response) -> Response:
    """Keep the answer of a form that was carried out. It may show a secret: only the session has the key."""
    sent = of_request(_Sent)
    if sent.guarded is None:
        return response
    was_noted = sent.guarded.is_done
    sent.guarded.end()  # for what the request has left at work
    if not was_noted or response.status_code not in {200, 303}:
        return response
    location = response.headers.get("Location", "")
    body = "" if location else str(await response.get_data(as_text=True))
    if len(body) <= _MOST_BYTES:
        told = json.dumps({"location": location, "body": body}).encode()
        with suppress(StorageError):  # the form is done, which is what the answer is to say
            await note_answer(
                resources().database,
                org_id(),
                sent.key,
                response.status_code,
                _box(sent.key).encrypt(told).decode(),
            )
    return response


def _box(key: str) -> Fernet:
    """What the answer to the form with this key is kept in."""
    secret = hmac.new(cookie_token().encode(), f"waylink answer {key}".encode(), hashlib.sha256).digest()
    return Fernet(base64.urlsafe_b64encode(secret))
