"""/healthz says whether the process answers, /readyz whether database and background work are well, too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from quart import Quart, Response, current_app, jsonify, request

from backend.operations.blueprint import operations
from backend.storage.driver.mongo import StorageError, ping
from backend.web.current import resources

# In the `state` of the application: an asyncio.Event, set when the server begins to stop.
STOPPING = "stopping"
# In the `state` of requests that arrive from then on.
IS_LAST = "is_last"
# Seconds within which the database must answer. Load balancers ask again after a few seconds.
PATIENCE = 2.0
_KEY = "waylink.failures"


def not_ready_while(api: Quart, failures: Callable[[], Sequence[str]]) -> None:
    """Make this app's /readyz answer 503 while `failures` returns failing background work."""
    api.extensions.setdefault(_KEY, []).append(failures)


@operations.get("/healthz")
async def alive() -> Response:
    """200 as long as the process answers. If it does not, a supervisor should restart it."""
    return _answer(200, "ok")


@operations.get("/readyz")
async def ready() -> Response:
    """200 if the database answers, else 503: a load balancer then sends requests elsewhere.

    Also 503 while the service stops or background work fails; `status` says which.
    """
    if request.scope.get("state", {}).get(IS_LAST):
        return _answer(503, "stopping")
    if failing := [failure for failures in current_app.extensions.get(_KEY, ()) for failure in failures()]:
        return _answer(503, f"background work fails: {', '.join(failing)}")
    try:
        async with asyncio.timeout(PATIENCE):
            await ping(resources().database)
    except (TimeoutError, StorageError):
        return _answer(503, "storage unreachable")
    return _answer(200, "ok")


def _answer(status: int, text: str) -> Response:
    response = jsonify({"status": text})
    response.status_code = status
    response.headers["Cache-Control"] = "no-store"
    return response
