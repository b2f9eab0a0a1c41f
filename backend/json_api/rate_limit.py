"""The rate limit of a key, as headers and as a refusal (decisions, "rate limits")."""

from __future__ import annotations

from backend.current import resources
from backend.json_api import error_table
from backend.json_api.refusal import Refusal


async def rate_limit_headers(key_id: str) -> dict[str, str]:
    """Count a request of this key: the RateLimit headers of its answer; refuses it beyond the limit."""
    state = await resources().rate_limits.count_request(key_id)
    headers = {
        "RateLimit-Limit": str(state.limit),
        "RateLimit-Remaining": str(state.remaining),
        "RateLimit-Reset": str(state.reset_after),
    }
    if not state.allowed:
        raise Refusal(error_table.RATE_LIMIT_EXCEEDED).with_headers(
            headers | {"Retry-After": str(state.reset_after)}
        )
    return headers
