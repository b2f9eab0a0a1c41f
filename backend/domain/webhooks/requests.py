"""Requests to endpoints: their bodies, and what they are called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.feed.event_json import event_json
from backend.domain.feed.events import Event
from backend.domain.fields.times.json_times import exact_time_json
from backend.domain.ids import LinkId
from backend.domain.webhooks.chat_messages import chat_message
from backend.domain.webhooks.endpoint import Endpoint, Form
from backend.domain.webhooks.sentences import Sentence, sentence_about

TEST_TYPE = "test"
_TEST = "This is a test from Waylink: events will arrive here."


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """What is sent: `id` is the same whenever the same events are sent again."""

    id: str
    body: bytes
    event_ids: tuple[str, ...] = ()


def request_of(
    endpoint: Endpoint, events: Sequence[Event], short_urls: Mapping[LinkId, str]
) -> WebhookRequest:
    """The request with these events, in the endpoint's form. `short_urls` are those of links, for chats."""
    ids = tuple(event.id for event in events)
    if endpoint.form is Form.JSON:
        body = _in_batch(endpoint, [event_json(event) for event in events])
    else:
        body = chat_message(endpoint.form, [sentence_about(event, short_urls) for event in events])
    return WebhookRequest(_id_of(ids), _json_bytes(body), ids)


def test_request_of(endpoint: Endpoint, test_id: str, now: datetime) -> WebhookRequest:
    """A request as its events would come, which says that it is a test."""
    if endpoint.form is Form.JSON:
        event = {
            "id": test_id,
            "type": TEST_TYPE,
            "at": exact_time_json(now),
            "org_id": endpoint.org_id,
            "data": {"message": _TEST},
        }
        return WebhookRequest(test_id, _json_bytes(_in_batch(endpoint, [event])))
    return WebhookRequest(test_id, _json_bytes(chat_message(endpoint.form, [Sentence(_TEST)])))


def _in_batch(endpoint: Endpoint, events: Sequence[Any]) -> Any:
    return events[0] if endpoint.batch_size == 1 else {"events": list(events)}


def _json_bytes(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _id_of(event_ids: Sequence[str]) -> str:
    if len(event_ids) == 1:
        return event_ids[0]
    return f"batch-{hashlib.sha256(' '.join(event_ids).encode()).hexdigest()[:32]}"
