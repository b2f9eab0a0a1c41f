"""/metrics, in the format of Prometheus."""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram
from prometheus_client import generate_latest as written
from prometheus_client.multiprocess import MultiProcessCollector
from quart import Quart, Response, abort, current_app, request

from backend.concurrency.background_task import when_failed
from backend.operations.blueprint import operations
from backend.operations.forwarded import was_forwarded
from backend.operations.shared_counts import SHARED_FOLDER
from backend.web.current import peer, resources

REQUESTS = Counter("waylink_requests", "Requests to the API.", ["method", "route", "status"])
SECONDS = Histogram(
    "waylink_request_seconds",
    "Time to the answer of the API.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
_FAILURES = Counter("waylink_background_failures", "Times that background work failed.", ["work"])
_KEY = "waylink.before_scrape"

when_failed.append(lambda work: _FAILURES.labels(work).inc())


def update_before_scrape(api: Quart, update: Callable[[], Awaitable[None] | None]) -> None:
    """Have `update` called, and awaited if it is to be, each time before this app's metrics are read."""
    api.extensions.setdefault(_KEY, []).append(update)


@operations.get("/metrics")
async def metrics() -> Response:
    """All metrics, summed over all workers. The request needs the WAYLINK_METRICS_TOKEN.

    If that is not set, only requests from this machine that came through no proxy are answered; others get
    404.
    """
    if not _may_read():
        abort(404)
    for update in current_app.extensions.get(_KEY, ()):
        if updating := update():
            await updating
    return Response(written(_registry()), content_type=CONTENT_TYPE_LATEST)


def _may_read() -> bool:
    token = resources().settings.metrics_token
    if token:
        authorization = request.headers.get("Authorization", "")
        return hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())
    return _is_loopback(peer()) and not was_forwarded()


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _registry() -> CollectorRegistry:
    if SHARED_FOLDER not in os.environ:
        return REGISTRY
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return shared
