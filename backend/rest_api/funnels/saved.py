"""/funnels: funnels that are saved under a name (docs/rest-api.md, "Funnels")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.saved import (
    SAVED_FIELDS,
    SAVED_REQUIRED,
    saved_funnel_json,
)
from backend.domain.fields.rules import Uuid
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.funnels import saved_funnels
from backend.web.current import resources

_PATH = "/funnels"
_ONE = f"{_PATH}/<funnel_text>"
_ID = PathParameter("funnelId", Uuid().schema(), "The funnel's id.", errors=(error_table.FUNNEL_NOT_FOUND,))
_CHANGES = BodyFields(SAVED_FIELDS)
_NEW = replace(_CHANGES, required=SAVED_REQUIRED)


@Operation(
    method="GET",
    path=_PATH,
    summary="List the saved funnels",
    needs=(Permission.ANALYTICS_READ,),
    answer="FunnelList",
)
async def get_funnels() -> dict[str, Any]:
    """All saved funnels, the oldest first."""
    found = await saved_funnels.list_funnels(resources().database, caller().org_id)
    return {"funnels": [saved_funnel_json(saved) for saved in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Save a funnel",
    needs=(Permission.ANALYTICS_WRITE,),
    body=_NEW,
    status=201,
    answer="Funnel",
)
async def post_funnel(fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Save a funnel under a name."""
    database, now = resources().database, resources().clock()
    saved = await saved_funnels.create_funnel(database, caller().org_id, fields, now)
    return saved_funnel_json(saved), 201


@Operation(
    method="GET",
    path=_ONE,
    summary="Get a saved funnel",
    needs=(Permission.ANALYTICS_READ,),
    path_parameter=_ID,
    answer="Funnel",
)
async def get_funnel(funnel_text: str) -> dict[str, Any]:
    """One saved funnel."""
    saved = await saved_funnels.get_funnel(resources().database, caller().org_id, funnel_text)
    return saved_funnel_json(saved)


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a saved funnel",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    body=_CHANGES,
    answer="Funnel",
)
async def patch_funnel(funnel_text: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Change the fields in the body. New steps replace all steps."""
    saved = await saved_funnels.change_funnel(resources().database, caller().org_id, funnel_text, fields)
    return saved_funnel_json(saved)


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete a saved funnel",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_funnel(funnel_text: str) -> None:
    """Delete a saved funnel. What it counts stays."""
    await saved_funnels.delete_funnel(resources().database, caller().org_id, funnel_text)
