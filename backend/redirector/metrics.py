"""Metrics of link domains: what visitors got, how fast, and how many clicks are not shipped yet."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from prometheus_client import Counter, Gauge, Histogram

_BOUNDS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1)


class _BulkHistogram(Histogram):
    """A histogram without labels that takes many observations at once."""

    def add(self, tallies: Sequence[int], total: float) -> None:
        """Add this many observations to each bucket, from the lowest to the unbounded one.

        `total` is their sum.
        """
        self._sum.inc(total)
        for bucket, tally in zip(self._buckets, tallies, strict=True):
            bucket.inc(tally)


_ANSWERS = Counter("waylink_redirects", "Requests to link domains.", ["status"])
_SECONDS = _BulkHistogram("waylink_redirect_seconds", "Time to the answer of a link domain.", buckets=_BOUNDS)
_WAITING = Gauge(
    "waylink_clicks_waiting_bytes",
    "Records of clicks on local disk that are not shipped to MongoDB yet, in bytes.",
    multiprocess_mode="livesum",
)
_UNREADABLE = Counter(
    "waylink_unreadable_click_records", "Records of click logs that could not be read and were set aside."
)
_AT_RISK = Counter(
    "waylink_clicks_at_risk",
    "Clicks answered before disk or database had their records; most are stored later.",
)
_LOST = Counter("waylink_clicks_lost", "Clicks answered whose records neither disk nor database took.")


class AnswerTallies:
    """Counts and times answers. The metrics are updated only now and then.

    Updating them takes longer than deciding what a visitor gets, and would slow down every redirect.
    """

    def __init__(self) -> None:
        self._answers: dict[int, int]
        self._tallies: list[int]
        self._seconds: float
        self._forget()

    def _forget(self) -> None:
        self._answers = defaultdict(int)
        self._tallies = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0

    def observe(self, status: int, seconds: float) -> None:
        """Count and time one answer."""
        self._answers[status] += 1
        self._tallies[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds += seconds

    def report(self) -> None:
        """Add everything since the last call to the metrics."""
        for status, answers in self._answers.items():
            _ANSWERS.labels(status).inc(answers)
        _SECONDS.add(self._tallies, self._seconds)
        self._forget()


def observe_backlog(size: int) -> None:
    """Set the metric for records that wait to be shipped, in bytes."""
    _WAITING.set(size)


def count_unreadable(records: int) -> None:
    """Count records that could not be read and were set aside."""
    _UNREADABLE.inc(records)


def count_at_risk(clicks: int) -> None:
    """Count clicks that were answered but are only in this process's memory."""
    _AT_RISK.inc(clicks)


def count_lost(clicks: int) -> None:
    """Count clicks that were answered but are lost."""
    _LOST.inc(clicks)
