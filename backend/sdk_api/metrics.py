"""Metrics of requests from the browser SDK."""

from __future__ import annotations

from prometheus_client import Counter

CALLS = Counter("waylink_calls", "Calls of the browser SDK.", ["kind", "status"])
REFUSALS = Counter("waylink_batch_refusals", "Batches that were refused as a whole.", ["status"])
