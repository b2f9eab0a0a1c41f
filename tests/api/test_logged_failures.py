"""What the log says of requests that fail."""

from __future__ import annotations

from collections import Counter

import pytest
from pymongo.errors import AutoReconnect

from backend.dashboard.frame.failures import note_failure
from backend.json_api.api_error import api_error_for
from backend.json_api.asgi_answer import error_answer
from backend.storage.analytics.question import NoAnswer

REQUESTS = 500


async def test_requests_that_fail_alike_have_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """While MongoDB is away, thousands are refused within minutes; each is answered all the same."""
    answers: Counter[object] = Counter()
    for number in range(REQUESTS):
        refused, unanswered = api_error_for(AutoReconnect("away")), api_error_for(NoAnswer(f"no {number}"))
        assert refused
        assert unanswered
        answers[refused.status] += 1
        answers[unanswered.status] += 1
        answers[note_failure(AutoReconnect("away"))] += 1
        answers[note_failure(TimeoutError())] += 1
        answers[error_answer(ZeroDivisionError()).status] += 1
    assert answers == {503: 3 * REQUESTS, 504: REQUESTS, 500: REQUESTS}
    assert sorted(caplog.messages) == [
        "A page took too long",
        "A question about figures was not answered: no 0",
        "A request failed",
        "The storage can't be reached: AutoReconnect",
        "The storage can't be reached: AutoReconnect",
    ]
