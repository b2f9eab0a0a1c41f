"""/healthz: the process answers. /readyz: it can also reach its storage, and its background work goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from quart import Quart, Response, current_app, jsonify, request

from backend.current import resources
from backend.operations.blueprint import operations
from backend.storage.mongo import StorageError, ping

# In the scope's `state` of requests that arrive while the server stops.
STOPPING = "stopping"
# Seconds that the storage has for its answer; load balancers ask again after a few.
PATIENCE = 2.0
_KEY = "waylink.failures"


def not_ready_while(api: Quart, failures: Callable[[], Sequence[str]]) -> None:
    """Have /readyz of this app say 503 while `failures` names background work that fails."""
    api.extensions.setdefault(_KEY, []).append(failures)


@operations.get("/healthz")
async def alive() -> Response:
    """200 as long as the process answers; a supervisor restarts it where it does not."""
    return _answer(200, "ok")


@operations.get("/readyz")
async def ready() -> Response:
    """200 if the storage answers, else 503: a load balancer then sends its requests elsewhere.

    503 too while the service stops, and while its background work fails: `status` says which.
    """
    if request.scope.get("state", {}).get(STOPPING):
        return _answer(503, "stopping")
    if failing := [each for failures in current_app.extensions.get(_KEY, ()) for each in failures()]:
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
