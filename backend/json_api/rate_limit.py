"""The rate limit of a key, as headers and as a refusal (decisions, "rate limits")."""

from __future__ import annotations

from backend.current import resources
from backend.json_api import error_table
from backend.json_api.refusal import Refusal

RATE_LIMIT_HEADERS = {
    "RateLimit-Limit": "Requests a minute that this key may send.",
    "RateLimit-Remaining": "Requests left in the current minute.",
    "RateLimit-Reset": "Seconds until the current minute ends.",
}


async def rate_limit_headers(key_id: str) -> dict[str, str]:
    """Count a request of this key: the RateLimit headers of its answer; refuses it beyond the limit."""
    state = await resources().rate_limits.rest_requests.count(key_id)
    values = (state.limit, state.remaining, state.reset_after)
    headers = dict(zip(RATE_LIMIT_HEADERS, map(str, values), strict=True))
    if not state.allowed:
        raise Refusal(error_table.RATE_LIMIT_EXCEEDED).with_headers(
            headers | {"Retry-After": str(state.reset_after)}
        )
    return headers
