"""Metrics of link domains: what visitors got, how fast, and which clicks are not shipped yet."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

_ANSWERS = Counter("waylink_redirects", "Requests to link domains.", ["status"])
_SECONDS = Histogram(
    "waylink_redirect_seconds",
    "Time to the answer of a link domain.",
    buckets=(0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1),
)
_WAITING = Gauge(
    "waylink_clicks_waiting_bytes",
    "Clicks on local disk that are not in MongoDB yet, in bytes.",
    multiprocess_mode="livesum",
)
# `labels` costs three times as much as counting does, and every redirect pays for it.
_answers_of: dict[int, Counter] = {}


def observe_answer(status: int, seconds: float) -> None:
    """Count and time one answer."""
    answers = _answers_of.get(status)
    if answers is None:
        answers = _answers_of[status] = _ANSWERS.labels(status)
    answers.inc()
    _SECONDS.observe(seconds)


def observe_backlog(size: int) -> None:
    """Tell how many bytes of clicks wait in this process."""
    _WAITING.set(size)
