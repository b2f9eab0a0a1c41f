"""Metrics of requests from the browser SDK."""

from __future__ import annotations

from functools import cache

from prometheus_client import Counter

CALLS = Counter("waylink_calls", "Calls of the browser SDK.", ["kind", "status"])
# There are only so many kinds, and a look-up of labels takes longer than counting.
calls_of = cache(CALLS.labels)
REFUSED_BATCHES = Counter("waylink_batch_refusals", "Batches that were refused as a whole.", ["status"])
