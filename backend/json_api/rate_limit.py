"""The rate limit of each REST key (decisions, "rate limits")."""

from __future__ import annotations

from backend.domain.ids import KeyId, OrgId
from backend.json_api import error_table
from backend.json_api.call_limits import limit_error
from backend.json_api.keyed_request import keyed_request
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


async def weigh(requests: int) -> None:
    """Count the current request, which was admitted as one, as so many requests of its key.

    Raises nothing: what is beyond the limit only leaves no requests for the rest of the minute.
    """
    request = keyed_request()
    assert request.api_key is not None  # it was admitted
    if more := requests - 1:
        state = await resources().rate_limits.rest_requests.count(request.api_key.id, more)
        request.rate_limit_headers = _headers(state)


def _headers(state: LimitState) -> dict[str, str]:
    values = (state.limit, state.remaining, state.reset_after)
    return dict(zip(RATE_LIMIT_HEADERS, map(str, values), strict=True))
