"""The rate limit of each REST key (decisions, "rate limits")."""

from __future__ import annotations

from backend.domain.ids import KeyId, OrgId
from backend.json_api import error_table
from backend.json_api.call_limits import limit_error
from backend.rate_limits.limit import LimitState
from backend.rate_limits.service_limits import REST_OF_KEY
from backend.web.current import resources

RATE_LIMIT_HEADERS = {
    "RateLimit-Limit": "Requests a minute that this key may send.",
    "RateLimit-Remaining": "Requests left in the current minute.",
    "RateLimit-Reset": "Seconds until the current minute ends.",
}


async def rate_limit_headers(key_id: KeyId, org_id: OrgId) -> dict[str, str]:
    """Count a request of this key and return the RateLimit headers for its answer.

    Raises ApiError (429, with the same headers) if the key has used up its limit.
    """
    limits = resources().rate_limits
    state = await limits.rest_requests.count(key_id)
    headers = _headers(state)
    if not state.allowed:
        api_error = limit_error(
            limits, error_table.RATE_LIMIT_EXCEEDED, REST_OF_KEY, state.reset_after, org_id
        )
        raise api_error.with_headers(headers)
    return headers


async def count_more(key_id: KeyId, amount: int) -> dict[str, str]:
    """Count `amount` more requests of this key, for a request that was admitted already.

    Returns the RateLimit headers for its answer. Raises nothing: an amount beyond the limit only leaves no
    requests for the rest of the minute.
    """
    return _headers(await resources().rate_limits.rest_requests.count(key_id, amount))


def _headers(state: LimitState) -> dict[str, str]:
    values = (state.limit, state.remaining, state.reset_after)
    return dict(zip(RATE_LIMIT_HEADERS, map(str, values), strict=True))
