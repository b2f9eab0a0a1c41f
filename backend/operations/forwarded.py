"""Whether a request came through a proxy, for routes that are meant for what runs beside the service."""

from __future__ import annotations

from quart import request


def was_forwarded() -> bool:
    """Whether a proxy says that it passed the request on."""
    return any(name in request.headers for name in ("Forwarded", "X-Forwarded-For", "Via"))
