"""The routes of the app API. Each needs a mobile SDK key."""

from __future__ import annotations

from quart import Blueprint, Response, request

from backend.domain.accounts.actors import key_holder
from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.ids import OrgId
from backend.json_api.authentication import KEY_HEADER, authenticate
from backend.json_api.call_limits import sender
from backend.json_api.error_handlers import keep_out_of_caches
from backend.json_api.keyed_request import keyed_request
from backend.storage.audit.acting import act_as
from backend.storage.driver.lanes import owned_by

app_api = Blueprint("app_api", __name__, url_prefix="/serviceCore/app/v1")


@app_api.before_request
async def _admit() -> None:
    key = keyed_request().api_key = await authenticate(KeyKind.MOBILE)
    owned_by(key.org_id)
    act_as(key_holder(key), request.endpoint)
    sender().count_calls(key)


@app_api.after_request
async def _add_headers(response: Response) -> Response:
    return keep_out_of_caches(response, KEY_HEADER)


def calling_org_id() -> OrgId:
    """The organization whose app sent the current request."""
    return calling_key().org_id


def calling_key() -> ApiKey:
    """The key of the app that sent the current request."""
    key = keyed_request().api_key
    assert key is not None  # `_admit` lets no other request in
    return key
