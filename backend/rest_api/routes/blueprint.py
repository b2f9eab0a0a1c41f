"""The routes of the REST API. Each needs a REST key and is subject to the key's rate limit."""

from __future__ import annotations

from collections.abc import Sequence

from quart import Blueprint, Response

from backend.domain.accounts.actors import key_holder
from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.permissions import Permission, first_missing
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.authentication import KEY_HEADER, authenticate
from backend.json_api.error_handlers import keep_out_of_caches
from backend.json_api.error_table import ErrorRow
from backend.json_api.keyed_request import keyed_request
from backend.json_api.rate_limit import rate_limit_headers
from backend.storage.audit.acting import act_as
from backend.storage.driver.lanes import owned_by
from backend.storage.links.tags import current_reach
from backend.web.current import resources

API_ROOT = "/serviceCore/pa/v1"

rest = Blueprint("rest", __name__, url_prefix=API_ROOT)


async def admit(
    endpoint: str, invalid_key: ErrorRow, needs: Sequence[Permission], *, holds_reach: bool
) -> None:
    """Let in the current request by its key, whose limit it counts against.

    It is for the operation with this endpoint, which needs these permissions.

    With `holds_reach`, a key that is limited to some links is let in. Raises ApiError, with the row
    `invalid_key` where the key is not a valid one.
    """
    facts = keyed_request()
    key = facts.api_key = await authenticate(KeyKind.REST, invalid_key)
    owned_by(key.org_id)
    act_as(key_holder(key), f"{rest.name}.{endpoint}")
    facts.rate_limit_headers = await rate_limit_headers(key.id, key.org_id)
    if missing := first_missing(needs, key.permissions):
        raise ApiError(error_table.SCOPE_MISSING, message=missing.value)
    if key.limited_to:
        if not holds_reach:
            raise ApiError(error_table.KEY_LIMITED)
        facts.reach = await current_reach(resources().database, key.org_id, key.limited_to)


@rest.after_request
async def _add_headers(response: Response) -> Response:
    response.headers.update(keyed_request().rate_limit_headers)
    return keep_out_of_caches(response, KEY_HEADER)


def caller() -> ApiKey:
    """The key that sent the current request. The request may only touch this key's organization, and what
    the `reach` has of it."""
    key = keyed_request().api_key
    assert key is not None  # `admit` lets no other request in
    return key


def reach() -> LinkReach | None:
    """The links that the current request may concern; None for all of the organization's."""
    return keyed_request().reach
