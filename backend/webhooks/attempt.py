"""One attempt to send something to an endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.webhooks.deliveries import MOST_IDS, Delivery
from backend.domain.webhooks.endpoint import Endpoint
from backend.domain.webhooks.requests import WebhookRequest
from backend.domain.webhooks.retries import LONGEST_REQUESTED_PAUSE, Failure
from backend.domain.webhooks.signing import signed_headers
from backend.web_client.guarded_client import GuardedAnswer
from backend.web_client.guarded_network import asking_for
from backend.web_client.page_reader import Unreadable
from backend.web_client.receivers import Receivers

_GONE = 410
_TOO_MANY_REQUESTS = 429
# The most characters of an answer that an error quotes.
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of an attempt: the delivery to store, and the failure; None if it succeeded."""

    delivery: Delivery
    failure: Failure | None


async def attempt(
    receivers: Receivers,
    endpoint: Endpoint,
    request: WebhookRequest,
    now: datetime,
    *,
    repeats: int = 0,
    is_test: bool = False,
) -> Attempt:
    """Send the request to the endpoint once, and return the result.

    `repeats` is the number of its events that were sent before. A failure is returned and not raised.
    """
    headers = signed_headers(endpoint.secrets_at(now), request.id, now, request.body)
    began = time.monotonic()
    status: int | None = None
    try:
        # The service may have got another address since the URL was given.
        ReceiverUrl(receivers.allows_loopback).parse("url", endpoint.url)
        with asking_for(endpoint.org_id):
            answer = await receivers.post(endpoint.url, headers, request.body)
    except InvalidField as error:
        failure: Failure | None = Failure(f"Nothing was sent: {error}")
    except Unreadable as error:
        failure = Failure(f"The receiver {error}")
    else:
        status = answer.status
        failure = _failure(answer, now)
    delivery = Delivery(
        webhook_id=request.id,
        at=now.replace(microsecond=now.microsecond // 1000 * 1000),
        events=len(request.event_ids),
        event_ids=request.event_ids[:MOST_IDS],
        status=status,
        milliseconds=round((time.monotonic() - began) * 1000),
        error=failure.error if failure else None,
        attempt=1 if is_test else endpoint.failures + 1,
        repeats=repeats,
        is_test=is_test,
    )
    return Attempt(delivery, failure)


def _failure(answer: GuardedAnswer, now: datetime) -> Failure | None:
    if 200 <= answer.status < 300:
        return None
    if answer.status == _GONE:
        return Failure("The receiver answered with status 410: it wants no more events", is_gone=True)
    if 300 <= answer.status < 400:
        to = _quoted(answer.headers.get("location", ""))
        return Failure(
            f"The receiver answered with status {answer.status}: redirects are not followed"
            + (f", this one leads to {to}" if to else "")
        )
    quote = _quoted(answer.text)
    return Failure(
        f"The receiver answered with status {answer.status}{f': {quote}' if quote else ''}",
        _asked_pause(answer, now),
    )


def _quoted(text: str) -> str:
    """The beginning of what a receiver said, in one line."""
    readable = "".join(character if character.isprintable() else " " for character in text[:_LONGEST_QUOTE])
    return " ".join(readable.split())


def _asked_pause(answer: GuardedAnswer, now: datetime) -> timedelta:
    """How long the receiver asks to wait, in its header or in its body."""
    text = answer.headers.get("retry-after", "")
    if seconds := _seconds(text):
        return seconds
    try:
        return max(timedelta(), parsedate_to_datetime(text) - now)
    except (ValueError, OverflowError, TypeError):  # beyond the calendar; a date without a zone
        pass
    return (
        _seconds(_field(answer.text, "retry_after")) if answer.status == _TOO_MANY_REQUESTS else timedelta()
    )


def _seconds(text: object) -> timedelta:
    try:
        seconds = float(str(text))
    except ValueError:
        return timedelta()
    # Not a number (NaN) is not more than 0, and becomes 0 as well.
    return min(timedelta(seconds=min(seconds, 1e9)), LONGEST_REQUESTED_PAUSE) if seconds > 0 else timedelta()


def _field(text: str, name: str) -> object:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields.get(name) if isinstance(fields, Mapping) else None
