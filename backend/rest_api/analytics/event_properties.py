"""GET and PATCH /event-properties: which properties of events queries may name."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.event_properties import MarkedProperties
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.storage.accounts.organizations import (
    UnknownOrganization,
    find_event_properties,
    set_event_properties,
)
from backend.web.current import resources

_PATH = "/event-properties"


@Operation(
    method="GET",
    path=_PATH,
    summary="Get the marked properties of events",
    needs=(Permission.SETTINGS_READ,),
    answer="EventProperties",
)
async def get_event_properties() -> dict[str, Any]:
    """The properties of events' metadata that queries may name, as `event.` and the property's name."""
    names = await find_event_properties(resources().database, caller().org_id)
    return {"marked": list(names)}


@Operation(
    method="PATCH",
    path=_PATH,
    summary="Mark properties of events",
    needs=(Permission.SETTINGS_WRITE,),
    body=BodyFields({"marked": MarkedProperties()}),
    answer="EventProperties",
)
async def patch_event_properties(fields: dict[str, Any]) -> dict[str, Any]:
    """Replace the list. It holds for the next query, also for events that were told before."""
    if "marked" in fields:
        try:
            await set_event_properties(resources().database, caller().org_id, fields["marked"])
        except UnknownOrganization:  # it was deleted a moment ago, and its keys with it
            raise ApiError(error_table.KEY_INVALID) from None
    return await get_event_properties()
