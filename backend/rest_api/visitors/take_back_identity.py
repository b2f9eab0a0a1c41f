"""DELETE /identities (docs/rest-api.md, "A wrong identity")."""

from __future__ import annotations

from typing import Any

from quart import Response

from backend.domain.fields.rules import Rule, Uuid
from backend.domain.ids import DeviceId
from backend.domain.visitors.call_fields import CallText
from backend.domain.visitors.calls import ID_LENGTH
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.query_string import read_query
from backend.storage.visitors.identities import take_back
from backend.web.current import resources

QUERY: dict[str, Rule[Any]] = {"device_id": Uuid(), "customer_id": CallText(ID_LENGTH)}


@rest.delete("/identities")
async def take_back_identity() -> Response:
    """Take back that a device was a customer's. Nothing else that is stored changes."""
    given = read_query(QUERY, required=list(QUERY))
    device_id, now = DeviceId(given["device_id"]), resources().clock()
    if not await take_back(resources().database, caller().org_id, device_id, given["customer_id"], now):
        raise ApiError(error_table.IDENTITY_NOT_FOUND)
    return Response(status=204)
