"""What a call is told that gets no figures: why, if that is its own matter, and nothing of the machine."""

from __future__ import annotations

import pytest

from backend.json_api.api_error import api_error_for
from backend.storage.analytics.question import FactsNotReady, NoAnswer, NotNow, TooMuch

ITS_OWN_MATTER = [
    NotNow("The figures take longer than the request may; ask again."),
    TooMuch("The answer needs more memory than it may take: ask for a shorter period."),
    FactsNotReady(1_000),
    FactsNotReady(),
]


@pytest.mark.parametrize("error", ITS_OWN_MATTER, ids=lambda error: type(error).__name__)
def test_its_own_matter(error: FactsNotReady | NoAnswer, caplog: pytest.LogCaptureFixture) -> None:
    """What passes, or what can be asked otherwise, is told as it is, and is no matter for the log."""
    told = api_error_for(error)
    assert told
    assert str(error) in str(told.body)
    assert "Retry-After" in told.headers
    assert not caplog.records


async def test_a_matter_of_the_machine() -> None:
    """What befell the host's files and processes is in the log alone."""
    told = api_error_for(NoAnswer("The folder of the figures, /srv/secret, can't be used."))
    assert told
    assert "its log says why" in str(told.body)
    assert "secret" not in str(told.body)
