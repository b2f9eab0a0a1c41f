"""The examples of receivers take what is signed, and each event once."""

from __future__ import annotations

import base64
import json
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from tests.webhook_receiver.example_receivers import ExampleReceiver, example_receiver

SECRET = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


@pytest.fixture(params=["python", "node"])
def receiver(request: pytest.FixtureRequest, tmp_path: Path) -> ExampleReceiver:
    """An example that has stored nothing yet."""
    return example_receiver(request.param, tmp_path)


def event(number: int) -> dict[str, Any]:
    """An event as the feed gives it."""
    return {"id": f"{number}-0", "type": "conversion", "data": {"revenue": "59.90", "page": "ä\n"}}


def answered(
    receiver: ExampleReceiver, body: object, *, secret: str = SECRET, at: datetime | None = None
) -> int:
    """The status that a request with this body, signed by this secret at this time, gets."""
    at, text = at or datetime.now(UTC), json.dumps(body, ensure_ascii=False)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("msg_1", at, text),
    }
    return httpx.post(receiver.url, content=text.encode(), headers=headers).status_code


def test_each_event_is_stored_once(receiver: ExampleReceiver) -> None:
    """One event or a batch, again and again, also after it was killed: what is new is added."""
    with receiver.running(SECRET) as process:
        assert answered(receiver, event(1)) == 204
        assert receiver.events == [event(1)]  # before the answer
        assert answered(receiver, {"events": [event(1), event(2)]}) == 204
        process.kill()
    if receiver.name == "node":
        with receiver.file.open("a") as file:
            file.write('{"id": "3-0", "ty')  # it was killed in the middle of a line
    with receiver.running(SECRET):
        assert answered(receiver, {"events": [event(2), event(3)]}) == 204
        assert answered(receiver, event(1)) == 204
    assert receiver.events == [event(1), event(2), event(3)]


def test_nobody_else_is_believed(receiver: ExampleReceiver) -> None:
    """Who signs with another secret, or repeats what was signed long ago, is refused."""
    with receiver.running(SECRET):
        assert answered(receiver, event(1), secret="whsec_" + "A" * 43 + "=") == 401
        assert answered(receiver, event(1), at=datetime.now(UTC) - timedelta(minutes=6)) == 401
        assert httpx.post(receiver.url, json=event(1)).status_code == 401
        assert answered(receiver, event(2)) == 204
    assert receiver.events == [event(2)]
