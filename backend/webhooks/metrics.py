"""Metrics of webhooks: what was sent, what failed, and how late events arrive."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("waylink_webhook_requests", "Requests to endpoints of webhooks.", ["outcome"])
EVENTS = Counter("waylink_webhook_events", "Events that endpoints of webhooks took.")
REPEATS = Counter(
    "waylink_webhook_repeats", "Events in requests to endpoints that had been in an earlier request."
)
DELAY = Histogram(
    "waylink_webhook_delay_seconds",
    "Time from an event to the answer of the endpoint that took it.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 86_400),
)
SLEPT = Counter("waylink_webhooks_slept", "Times that an endpoint was given up until somebody says “go on”.")
FAILING = Gauge(
    "waylink_webhooks_failing",
    "Endpoints that this process delivers to and whose last request failed.",
    multiprocess_mode="livesum",
)
