"""The routes of the REST API. Each needs a REST key and is subject to the key's rate limit."""

from __future__ import annotations

from quart import Blueprint, Response, request

from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.json_api import error_table
from backend.json_api.authentication import KEY_HEADER, authenticate
from backend.json_api.error_handlers import keep_out_of_caches
from backend.json_api.rate_limit import rate_limit_headers
from backend.web.current import known

API_ROOT = "/serviceCore/pa/v1"

rest = Blueprint("rest", __name__, url_prefix=API_ROOT)


@rest.before_request
async def _admit() -> None:
    await admit(is_create_link=request.endpoint == "rest.create_link")


async def admit(*, is_create_link: bool = False) -> None:
    """Let in the current request by its key, whose limit it counts against. Raises ApiError."""
    invalid = error_table.KEY_INVALID_FOR_CREATE if is_create_link else error_table.KEY_INVALID
    key = known().api_key = await authenticate(KeyKind.REST, invalid)
    known().limit_headers = await rate_limit_headers(key.id, key.org_id)


@rest.after_request
async def _add_headers(response: Response) -> Response:
    response.headers.update(known().limit_headers)
    return keep_out_of_caches(response, KEY_HEADER)


def caller() -> ApiKey:
    """The key that sent the current request. The request may only touch this key's organization."""
    key = known().api_key
    assert key is not None  # `_admit` lets no other request in
    return key
