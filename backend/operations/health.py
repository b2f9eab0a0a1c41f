"""/healthz: the process answers. /readyz: it can also reach its storage."""

from __future__ import annotations

import asyncio

from quart import Response, jsonify, request

from backend.current import resources
from backend.operations.blueprint import operations
from backend.storage.mongo import StorageError, ping

# In the scope's `state` of requests that arrive while the server stops.
STOPPING = "stopping"
# Seconds that the storage has for its answer; load balancers ask again after a few.
PATIENCE = 2.0


@operations.get("/healthz")
async def alive() -> Response:
    """200 as long as the process answers; a supervisor restarts it where it does not."""
    return _answer(200, "ok")


@operations.get("/readyz")
async def ready() -> Response:
    """200 if the storage answers, else 503: a load balancer then sends its requests elsewhere.

    503 too while the service stops.
    """
    if request.scope.get("state", {}).get(STOPPING):
        return _answer(503, "stopping")
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
