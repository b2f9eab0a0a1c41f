"""DELETE /identities (docs/rest-api.md, "A wrong identity")."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Uuid
from backend.domain.ids import DeviceId
from backend.domain.visitors.call_fields import IdText
from backend.domain.visitors.calls import ID_LENGTH
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.storage.visitors.identities import take_back
from backend.web.current import resources


@Operation(
    method="DELETE",
    path="/identities",
    summary="Take back that a device was a customer's",
    needs=(Permission.PERSONS_WRITE,),
    query={
        "device_id": QueryParameter(Uuid(), "The device.", is_required=True),
        "customer_id": QueryParameter(IdText(ID_LENGTH), "The customer that it was never.", is_required=True),
    },
    status=204,
    errors=(error_table.IDENTITY_NOT_FOUND,),
)
async def take_back_identity(query: dict[str, Any]) -> None:
    """Take back that a device was a customer's. Nothing else that is stored changes."""
    device_id, now = DeviceId(query["device_id"]), resources().clock()
    if not await take_back(resources().database, caller().org_id, device_id, query["customer_id"], now):
        raise ApiError(error_table.IDENTITY_NOT_FOUND)
