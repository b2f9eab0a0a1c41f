"""The routes of SCIM. Each needs a provisioning token and is subject to its rate limit."""

from __future__ import annotations

import asyncio
import json

from quart import Blueprint, Response, request

from backend.domain.accounts.actors import key_holder
from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.provisioning.people import SCIM_PATH
from backend.json_api.call_limits import sender
from backend.json_api.error_handlers import keep_out_of_caches
from backend.json_api.json_body import read_bytes
from backend.json_api.keyed_request import keyed_request
from backend.json_api.rate_limit import rate_limit_headers
from backend.scim_api.errors import Unauthorized, answer_errors_of
from backend.storage.audit.acting import act_as
from backend.storage.driver.deadlines import deadline_paused
from backend.storage.driver.lanes import owned_by
from backend.web.current import header, resources

# A group may be told with all its members: some 90 bytes for each of 10,000.
MAX_BODY_BYTES = 1024 * 1024
_AUTHORIZATION = b"authorization"

scim = Blueprint("scim", __name__, url_prefix=SCIM_PATH)
answer_errors_of(scim)


@scim.before_request
async def _admit() -> None:
    facts = keyed_request()
    key = facts.api_key = await _authenticate()
    owned_by(key.org_id)
    act_as(key_holder(key), request.endpoint)
    facts.rate_limit_headers = await rate_limit_headers(key.id, key.org_id)


async def _authenticate() -> ApiKey:
    """The token in the Authorization header. Raises Unauthorized, and ApiError (429)."""
    scheme, _, text = (header(_AUTHORIZATION) or "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        sender().count_without_key()
        raise Unauthorized("Authorization must be Bearer and a provisioning token")
    if key := await sender().find_key(text.strip(), KeyKind.SCIM):
        return key
    raise Unauthorized("The provisioning token is unknown, was revoked, or is over")


@scim.after_request
async def _add_headers(response: Response) -> Response:
    response.headers.update(keyed_request().rate_limit_headers)
    return keep_out_of_caches(response, "Authorization")


@scim.route("/", defaults={"path": ""}, methods=["GET"])
@scim.route("/<path:path>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def scim_call(path: str) -> Response:
    """Whatever the protocol has below its root."""
    key = keyed_request().api_key
    assert key is not None  # `_admit` lets no other request in
    body = await read_bytes(MAX_BODY_BYTES)
    # The protocol's library takes half a second to load, which a service without provisioning never needs.
    with deadline_paused():
        await asyncio.to_thread(_load)
    from scim2_server.requests import ScimRequest  # noqa: PLC0415

    from backend.scim_api.calls import answer  # noqa: PLC0415

    call = ScimRequest(
        method="GET" if request.method == "HEAD" else request.method,
        base_url=f"{resources().settings.base_url}{SCIM_PATH}",
        path=f"/{path}",
        query=dict(request.args),
        headers=list(request.headers),
        body=body,
    )
    answered = await answer(call, resources().database, key.org_id, resources().clock)
    # In ASCII: an error may quote half a character, which has no form in UTF-8.
    content = b"" if answered.body is None else json.dumps(answered.body).encode()
    return Response(content, int(answered.status), answered.headers)


def _load() -> None:
    from backend.scim_api import calls  # noqa: F401, PLC0415
